import { asJson } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonClone, type StatusCause } from '@sheaf/base';
import type { InstanceSpec } from '../instance-spec.ts';
import { completeDisks } from '../mutation.ts';
import { cause } from '../rules/cause.ts';
import type { InstanceTemplate, TypeRef, VirtualMachine, VirtualMachineStatus } from '../virtual-machine.ts';
import { applyInstanceType, conflictsWith } from './apply-instance-type.ts';
import { applyPreference } from './apply-preference.ts';
import { spreadProblem, topologyOf } from './cpu-topology.ts';
import { fieldAt, setField } from './fill.ts';
import { type FoundTypes, type Matcher, type Purpose, placeFor, type TypeObject } from './machine-types.ts';
import { requirementCauses } from './requirements.ts';

/** What the template of a machine comes to with its instance type and preference. */
export type Expansion =
  | { readonly state: 'expanded'; readonly template: InstanceTemplate }
  /** It is not there, or not yet. */
  | { readonly state: 'missing'; readonly reason: string; readonly text: string }
  | { readonly state: 'conflict'; readonly causes: readonly StatusCause[] };

const purposes: readonly Purpose[] = ['instancetype', 'preference'];

export function matcherOf({ spec }: VirtualMachine, purpose: Purpose): Matcher | undefined {
  const matcher = spec[purpose];
  return isJsonObject(matcher) ? matcher : undefined;
}

export function hasTypes(machine: VirtualMachine): boolean {
  return purposes.some((purpose) => matcherOf(machine, purpose) !== undefined);
}

/** Pure: what the machine names has been found before. */
export function expandMachine(machine: VirtualMachine, found: FoundTypes): Expansion {
  for (const purpose of purposes) {
    const matcher = matcherOf(machine, purpose);
    if (matcher && !found[purpose]) return missing(purpose, matcher);
  }
  const type = specOf(found.instancetype);
  const preference = specOf(found.preference);
  const { template } = machine.spec;
  const spec = jsonClone(asJson(template.spec as never));
  const causes = [...typeCauses(spec, type, preference), ...annotationCauses(template, type)];
  if (causes.length > 0) return { state: 'conflict', causes };
  if (type) applyInstanceType(spec, type, preference);
  if (preference) {
    setField(spec, 'domain.devices.disks', disksOf(template.spec));
    applyPreference(spec, preference);
  }
  const unmet = preference ? requirementCauses(spec, { type, preference }) : [];
  if (unmet.length > 0) return { state: 'conflict', causes: unmet };
  const annotations = annotationsOf(machine, { type, preference });
  return {
    state: 'expanded',
    template: {
      ...template,
      metadata: { ...template.metadata, annotations: { ...annotations, ...template.metadata?.annotations } },
      spec: spec as unknown as InstanceSpec,
    },
  };
}

/** A preference speaks of disks also where volumes have none of their own. */
function disksOf(spec: InstanceSpec): JsonValue | undefined {
  const disks = completeDisks(spec);
  return disks.length > 0 ? (disks as unknown as JsonValue) : undefined;
}

function missing(purpose: Purpose, { kind, name = '' }: Matcher): Expansion {
  const place = placeFor(purpose, { kind });
  const reason = purpose === 'instancetype' ? 'FailedFindInstancetype' : 'FailedFindPreference';
  const text = place
    ? `There is no ${place.kind} ${name}`
    : `got unexpected kind in ${purpose === 'instancetype' ? 'InstancetypeMatcher' : 'PreferenceMatcher'}: ${kind}`;
  return { state: 'missing', reason, text };
}

function specOf(object: TypeObject | undefined): JsonObject | undefined {
  return object && (object.spec ?? {});
}

function typeCauses(
  spec: JsonObject,
  type: JsonObject | undefined,
  preference: JsonObject | undefined,
): readonly StatusCause[] {
  if (!type) return [];
  const uneven = spreadProblem(Number(fieldAt(type, 'cpu.guest') ?? 1), topologyOf(preference));
  if (uneven !== undefined)
    return [
      cause('instancetype.spec.cpu.guest', uneven, { wayOut: 'use another type, or another preference' }),
    ];
  return conflictsWith(spec, type).map((path) => {
    const field = `spec.template.spec.${path}`;
    return cause(field, `VM field(s) ${field} conflicts with selected instance type`, {
      wayOut: 'remove the field, or do without the instance type',
    });
  });
}

function annotationCauses(
  { metadata }: InstanceTemplate,
  type: JsonObject | undefined,
): readonly StatusCause[] {
  const own = metadata?.annotations ?? {};
  return Object.entries(textsOf(type)).flatMap(([key, value]) =>
    own[key] === undefined || own[key] === value
      ? []
      : [
          cause(
            `annotations.${key}`,
            `VM field(s) annotations.${key} conflicts with selected instance type`,
            {
              wayOut: 'remove the annotation, or do without the instance type',
            },
          ),
        ],
  );
}

function textsOf(spec: JsonObject | undefined): Readonly<Record<string, string>> {
  const annotations = spec?.['annotations'];
  return isJsonObject(annotations) ? (annotations as Readonly<Record<string, string>>) : {};
}

function annotationsOf(
  machine: VirtualMachine,
  {
    type,
    preference,
  }: { readonly type: JsonObject | undefined; readonly preference: JsonObject | undefined },
): Readonly<Record<string, string>> {
  const names = purposes.flatMap((purpose) => {
    const matcher = matcherOf(machine, purpose);
    const place = matcher && placeFor(purpose, matcher);
    return place ? [[place.annotation, matcher.name ?? '']] : [];
  });
  return {
    ...textsOf(preference),
    ...textsOf(type),
    ...(Object.fromEntries(names) as Record<string, string>),
  };
}

/** What a status says of the types of its machine. */
export function typeRefsOf(
  machine: VirtualMachine,
): Pick<VirtualMachineStatus, 'instancetypeRef' | 'preferenceRef'> {
  return { instancetypeRef: refOf(machine, 'instancetype'), preferenceRef: refOf(machine, 'preference') };
}

function refOf(machine: VirtualMachine, purpose: Purpose): TypeRef | undefined {
  const matcher = matcherOf(machine, purpose);
  const place = matcher && placeFor(purpose, matcher);
  return place && { kind: matcher.kind ?? place.kind, name: matcher.name ?? '' };
}
