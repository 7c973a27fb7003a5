import type { FieldError, KubeObject } from '@sheaf/api';
import { approvalCondition } from './api-approval.ts';
import { bundleFault } from './conversion-settings.ts';
import {
  type Definition,
  type DefinitionCondition,
  type DefinitionNames,
  type DefinitionVersion,
  isShared,
  readDefinition,
} from './definition.ts';
import { goQuote } from './go-text.ts';
import { readText } from './json-reader.ts';
import { findUnreadable } from './schema-keywords.ts';
import { readSchema, SchemaTooDeep } from './schema-node.ts';
import { validateStructural } from './structural-rules.ts';

/** What a definition's status should say. Times of conditions are the caller's to set where a status changes. */
export interface NamePlan {
  readonly acceptedNames: DefinitionNames;
  /** In the order they are written; a condition that is not listed here is not to be there. */
  readonly conditions: readonly DefinitionCondition[];
}

/**
 * Decides which names a definition gets, next to the other definitions of the cluster, and whether it is served. A name
 * another definition of the group holds is refused; names once accepted are kept while the new ones are in conflict.
 */
export function planNames(crd: KubeObject, others: readonly KubeObject[]): NamePlan {
  const definition = readDefinition(crd);
  const taken = takenNames(definition, others);
  const { acceptedNames, conflict } = chooseNames(definition, taken);
  const accepted: DefinitionCondition =
    conflict === undefined
      ? {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  const conditions = [
    accepted,
    establishedCondition(definition, accepted),
    nonStructuralCondition(definition),
    approvalCondition(definition),
  ];
  return { acceptedNames, conditions: conditions.filter((condition) => condition !== undefined) };
}

interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function takenNames(definition: Definition, others: readonly KubeObject[]): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const object of others) {
    const other = readDefinition(object);
    if (other.group !== definition.group || other.name === definition.name) continue;
    const names = other.acceptedNames;
    for (const name of [names.plural, names.singular, ...names.shortNames]) resources.add(name);
    for (const name of [names.kind, names.listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

interface Choice {
  readonly acceptedNames: DefinitionNames;
  readonly conflict: Conflict | undefined;
}

function chooseNames(definition: Definition, taken: TakenNames): Choice {
  const wanted = definition.names;
  const held = definition.acceptedNames;
  const plural = choose(wanted.plural, held.plural, taken.resources);
  const singular = choose(wanted.singular, held.singular, taken.resources);
  const shortNames = chooseShortNames(wanted.shortNames, held.shortNames, taken.resources);
  const kind = choose(wanted.kind, held.kind, taken.kinds);
  const listKind = choose(wanted.listKind, held.listKind, taken.kinds);
  const faults: readonly (readonly [string, string | undefined])[] = [
    ['PluralConflict', plural.fault],
    ['SingularConflict', singular.fault],
    ['ShortNamesConflict', shortNames.fault],
    ['KindConflict', kind.fault],
    ['ListKindConflict', listKind.fault],
  ];
  // The last conflict is the one that is told.
  const last = faults.findLast(([, fault]) => fault !== undefined);
  return {
    acceptedNames: {
      plural: plural.name,
      singular: singular.name,
      shortNames: shortNames.names,
      kind: kind.name,
      listKind: listKind.name,
      categories: wanted.categories,
    },
    conflict: last === undefined ? undefined : { reason: last[0], message: last[1] ?? '' },
  };
}

function choose(
  wanted: string,
  held: string,
  taken: ReadonlySet<string>,
): { readonly name: string; readonly fault: string | undefined } {
  if (wanted === held || !taken.has(wanted)) return { name: wanted, fault: undefined };
  return { name: held, fault: `${goQuote(wanted)} is already in use` };
}

function chooseShortNames(
  wanted: readonly string[],
  held: readonly string[],
  taken: ReadonlySet<string>,
): { readonly names: readonly string[]; readonly fault: string | undefined } {
  const conflicts = wanted.filter((name) => !held.includes(name) && taken.has(name));
  if (conflicts.length === 0) return { names: wanted, fault: undefined };
  const texts = [...new Set(conflicts)].map((name) => `${goQuote(name)} is already in use`);
  return { names: held, fault: texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]` };
}

/** A definition whose names were accepted once stays established, whatever becomes of later names. */
function establishedCondition(definition: Definition, accepted: DefinitionCondition): DefinitionCondition {
  const before = definition.conditions.find((condition) => condition.type === 'Established');
  if (before?.status === 'True') return before;
  if (accepted.status !== 'True') {
    return (
      before ?? {
        type: 'Established',
        status: 'False',
        reason: 'NotAccepted',
        message: 'not all names are accepted',
      }
    );
  }
  if (bundleFault(readText(definition.conversion.clientConfig?.['caBundle'])) !== undefined) {
    return {
      type: 'Established',
      status: 'False',
      reason: 'InvalidCABundle',
      message: 'The conversion webhook CABundle is invalid',
    };
  }
  return {
    type: 'Established',
    status: 'True',
    reason: 'InitialNamesAccepted',
    message: 'the initial names have been accepted',
  };
}

function nonStructuralCondition(definition: Definition): DefinitionCondition | undefined {
  const texts: string[] = [];
  if (definition.preserveUnknownFields) {
    texts.push('spec.preserveUnknownFields: Invalid value: true: must be false');
  }
  const hasOneSchema = isShared(definition.versions, 'schema');
  for (const [index, version] of definition.versions.entries()) {
    // The same schema again: there is nothing more to be found than in the first one.
    if (index > 0 && hasOneSchema && texts.length === 0) break;
    const found = structuralErrors(version, `spec.versions[${index}].schema.openAPIV3Schema`);
    if (typeof found === 'string') {
      return {
        type: 'NonStructuralSchema',
        status: 'Unknown',
        reason: 'StructuralError',
        message: `failed to check validation schema for version ${version.name}: ${found}`,
      };
    }
    texts.push(...found.map((error) => `${error.field}: ${error.message}`));
  }
  if (texts.length === 0) return undefined;
  const message = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message };
}

/** The errors of a schema, or why it cannot be read. */
function structuralErrors(version: DefinitionVersion, path: string): readonly FieldError[] | string {
  if (version.schema === undefined) return [];
  try {
    const root = readSchema(version.schema);
    return findUnreadable(root) ?? validateStructural(root, path);
  } catch (error) {
    if (error instanceof SchemaTooDeep) return error.message;
    throw error;
  }
}
