import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, type StatusCause } from '@sheaf/base';
import { cause } from '../rules/cause.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { matcherOf } from './expand-machine.ts';
import { fieldAt } from './fill.ts';
import { type Matcher, type Purpose, placeFor } from './machine-types.ts';

/** Objects whose labels say which type goes with what is on them. */
export interface LabelledObjects {
  claim(namespace: string, name: string): KubeObject | undefined;
  dataVolume(namespace: string, name: string): KubeObject | undefined;
  dataSource(namespace: string, name: string): KubeObject | undefined;
}

/** A matcher that is written out, or why that cannot be. */
type Inferred =
  | { readonly state: 'found'; readonly matcher: Matcher }
  | { readonly state: 'unknown'; readonly text: string; readonly isIgnorable: boolean };

const purposes: readonly Purpose[] = ['instancetype', 'preference'];

/** What is wrong with the matchers themselves, in KubeVirt's words. */
export function matcherCauses(machine: VirtualMachine): readonly StatusCause[] {
  return purposes.flatMap((purpose) => {
    const matcher = matcherOf(machine, purpose);
    return matcher ? causesOf(purpose, matcher) : [];
  });
}

function causesOf(purpose: Purpose, matcher: Matcher): readonly StatusCause[] {
  const field = `spec.${purpose}`;
  const words = purpose === 'instancetype' ? 'InstancetypeMatcher' : 'PreferenceMatcher';
  if (matcher.revisionName)
    return [
      cause(`${field}.revisionName`, 'types are read as they are now, not by a revision', {
        wayOut: 'remove the field',
      }),
    ];
  if (!matcher.name && !matcher.inferFromVolume)
    return [
      cause(field, `Either Name or InferFromVolume should be provided within the ${words}`, {
        wayOut: 'name the type',
        reason: 'FieldValueNotFound',
      }),
    ];
  if (matcher.inferFromVolume && (matcher.name || matcher.kind))
    return [
      cause(`${field}.name`, 'Name already set, should be cleared before setting inferFromVolume', {
        wayOut: 'remove one of them',
        reason: 'FieldValueNotSupported',
      }),
    ];
  if (placeFor(purpose, matcher)) return [];
  const text = `got unexpected kind in ${words}: ${matcher.kind}`;
  return [cause(`${field}.kind`, text, { wayOut: 'remove it for a type of the cluster' })];
}

/** The machine with what its volumes say written out; `causes`: what they do not say and must. */
export function inferTypes(
  machine: VirtualMachine,
  objects: LabelledObjects,
): { readonly machine: VirtualMachine; readonly causes: readonly StatusCause[] } {
  let next = machine;
  const causes: StatusCause[] = [];
  for (const purpose of purposes) {
    const matcher = matcherOf(next, purpose);
    if (!matcher?.inferFromVolume) continue;
    const inferred = inferOne(next, { purpose, volume: matcher.inferFromVolume }, objects);
    const mayFail = matcher.inferFromVolumeFailurePolicy === 'Ignore';
    if (inferred.state === 'found')
      next = withMatcher(next, purpose, { matcher: inferred.matcher, forgetsMemory: mayFail });
    else if (mayFail && inferred.isIgnorable) next = withMatcher(next, purpose, {});
    else
      causes.push(
        cause(`spec.${purpose}.inferFromVolume`, inferred.text, {
          wayOut: 'name the type in spec',
          reason: 'FieldValueNotFound',
        }),
      );
  }
  return { machine: next, causes };
}

function withMatcher(
  machine: VirtualMachine,
  purpose: Purpose,
  { matcher, forgetsMemory = false }: { readonly matcher?: Matcher; readonly forgetsMemory?: boolean },
): VirtualMachine {
  const { [purpose]: _, ...spec } = machine.spec;
  const next = { ...machine, spec: matcher ? { ...spec, [purpose]: matcher } : spec };
  if (purpose !== 'instancetype' || !forgetsMemory) return next;
  const { template } = next.spec;
  const { memory: _memory, ...domain } = template.spec.domain;
  return { ...next, spec: { ...next.spec, template: { ...template, spec: { ...template.spec, domain } } } };
}

function inferOne(
  machine: VirtualMachine,
  { purpose, volume: name }: { readonly purpose: Purpose; readonly volume: string },
  objects: LabelledObjects,
): Inferred {
  const { namespace = '' } = machine.metadata;
  const label = `instancetype.kubevirt.io/default-${purpose}`;
  const volume = machine.spec.template.spec.volumes?.find((each) => each.name === name);
  if (!volume) return unknown(`unable to find volume ${name} to infer defaults`, false);
  if (volume.persistentVolumeClaim)
    return ofLabels(objects.claim(namespace, volume.persistentVolumeClaim.claimName), label);
  if (volume.dataVolume) return ofDataVolume(machine, { name: volume.dataVolume.name, label }, objects);
  return unknown(`unable to infer defaults from volume ${name} as type is not supported`);
}

function ofDataVolume(
  { metadata: { namespace = '' }, spec }: VirtualMachine,
  { name, label }: { readonly name: string; readonly label: string },
  objects: LabelledObjects,
): Inferred {
  const template = spec.dataVolumeTemplates?.find(({ metadata }) => metadata.name === name);
  const dataVolume = template ?? objects.dataVolume(namespace, name);
  if (!dataVolume) return ofLabels(objects.claim(namespace, name), label);
  const own = ofLabels(dataVolume, label);
  if (own.state === 'found') return own;
  return ofSource((dataVolume as unknown as JsonObject)['spec'], { namespace, label }, objects);
}

function ofSource(
  spec: JsonValue | undefined,
  { namespace, label }: { readonly namespace: string; readonly label: string },
  objects: LabelledObjects,
): Inferred {
  const field = (path: string): string | undefined => {
    const value = isJsonObject(spec) ? fieldAt(spec, path) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const claim = field('source.pvc.name');
  if (claim !== undefined)
    return ofLabels(objects.claim(field('source.pvc.namespace') || namespace, claim), label);
  const source = field('sourceRef.name');
  if (source === undefined)
    return unknown('unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported');
  return ofDataSource(objects.dataSource(field('sourceRef.namespace') || namespace, source), label, objects);
}

function ofDataSource(source: KubeObject | undefined, label: string, objects: LabelledObjects): Inferred {
  const own = ofLabels(source, label);
  if (own.state === 'found' || !source) return own;
  const name = fieldAt(source as unknown as JsonObject, 'spec.source.pvc.name');
  const namespace = fieldAt(source as unknown as JsonObject, 'spec.source.pvc.namespace');
  if (typeof name !== 'string')
    return unknown("unable to infer defaults from DataSource that doesn't provide DataVolumeSourcePVC");
  const place = typeof namespace === 'string' ? namespace : (source.metadata.namespace ?? '');
  return ofLabels(objects.claim(place, name), label);
}

function ofLabels(object: KubeObject | undefined, label: string): Inferred {
  if (!object) return unknown('what the defaults are to be inferred from is not there', false);
  const name = object.metadata.labels?.[label];
  if (name === undefined) return unknown(`unable to find required ${label} label on the volume`);
  const kind = object.metadata.labels?.[`${label}-kind`];
  return { state: 'found', matcher: { name, ...(kind === undefined ? {} : { kind }) } };
}

function unknown(text: string, isIgnorable = true): Inferred {
  return { state: 'unknown', text, isIgnorable };
}
