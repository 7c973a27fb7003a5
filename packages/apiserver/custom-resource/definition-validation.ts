import { type FieldError, invalid, type JsonSchema, type KubeObject, required } from '@sheaf/api';
import { validateApproval } from './api-approval.ts';
import { validateConversionSettings } from './conversion-settings.ts';
import { asJsonList, type Definition, readDefinition } from './definition.ts';
import { validateNames } from './definition-names.ts';
import { invalidValue, unsupportedValue } from './field-errors.ts';
import { goVersions } from './go-versions.ts';
import { dns1035LabelFaults, dns1123SubdomainFaults } from './name-syntax.ts';
import { validateVersions } from './version-rules.ts';

/**
 * Compiles the rules (`x-kubernetes-validations`) of a whole schema and says what is wrong with them. `path` is that of
 * the schema; `old` the schema of the same version before an update, whose rules were accepted once.
 */
export type RuleCompiler = (
  schema: JsonSchema,
  path: string,
  old: JsonSchema | undefined,
) => readonly FieldError[];

export interface DefinitionChecks {
  /** Without it rules are accepted as they are. It is asked only about schemas without other errors. */
  readonly compileRules?: RuleCompiler;
}

/**
 * All errors of a CustomResourceDefinition that has its defaults, with `old` those of an update. Metadata is looked at
 * only for what is special here: the name, and the approval of reserved groups. Errors in what all versions share are
 * reported outside the versions, e.g. under `spec.validation.openAPIV3Schema`.
 */
export function validateDefinition(
  crd: KubeObject,
  old?: KubeObject,
  checks: DefinitionChecks = {},
): readonly FieldError[] {
  const definition = readDefinition(crd);
  const before = old === undefined ? undefined : readDefinition(old);
  const errors: FieldError[] = [];
  if (before === undefined) validateName(definition, errors);
  validateGroup(definition, errors);
  errors.push(...validateVersions(definition, before, checks));
  validateVersionSet(definition, errors);
  validateSpecNames(definition, errors);
  errors.push(...validateConversionSettings(definition, before));
  if (before !== undefined) validateUnchanged(definition, before, errors);
  errors.push(...validateNames(definition.acceptedNames, 'status.acceptedNames'));
  validateStoredVersions(definition, errors);
  errors.push(...validateApproval(definition, before));
  if (definition.preserveUnknownFields && before?.preserveUnknownFields !== true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalidValue('spec.preserveUnknownFields', true, detail));
  }
  return errors;
}

function validateName(definition: Definition, errors: FieldError[]): void {
  if (definition.name === `${definition.names.plural}.${definition.group}`) return;
  errors.push(invalidValue('metadata.name', definition.name, 'must be spec.names.plural+"."+spec.group'));
}

function validateGroup({ group, scope }: Definition, errors: FieldError[]): void {
  const faults = dns1123SubdomainFaults(group);
  if (group === '') errors.push(required('spec.group'));
  else if (faults.length > 0) errors.push(invalidValue('spec.group', group, faults.join(',')));
  else if (!group.includes('.')) {
    errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  const scopes = ['Cluster', 'Namespaced'];
  if (scope === '') errors.push(required('spec.scope'));
  else if (!scopes.includes(scope)) errors.push(unsupportedValue('spec.scope', scope, scopes));
}

function validateVersionSet({ versions }: Definition, errors: FieldError[]): void {
  const names = versions.map((version) => version.name);
  if (new Set(names).size < names.length) {
    errors.push(invalid('spec.versions', goVersions(versions), 'must contain unique version names'));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalid('spec.versions', goVersions(versions), detail));
  }
  const [first] = names;
  if (first === undefined || first === '') return;
  const faults = dns1035LabelFaults(first);
  if (faults.length > 0) errors.push(invalidValue('spec.version', first, faults.join(',')));
}

function validateSpecNames({ names }: Definition, errors: FieldError[]): void {
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (names[field] === '') errors.push(required(`spec.names.${field}`));
  }
  errors.push(...validateNames(names, 'spec.names'));
}

function validateUnchanged(definition: Definition, before: Definition, errors: FieldError[]): void {
  const isEstablished = before.conditions.some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  );
  const fixed: readonly (readonly [string, string, string, boolean])[] = [
    ['spec.scope', definition.scope, before.scope, isEstablished],
    ['spec.names.kind', definition.names.kind, before.names.kind, isEstablished],
    ['spec.group', definition.group, before.group, true],
    ['spec.names.plural', definition.names.plural, before.names.plural, true],
  ];
  for (const [field, value, old, isFixed] of fixed) {
    if (isFixed && value !== old) errors.push(invalidValue(field, value, 'field is immutable'));
  }
}

function validateStoredVersions(definition: Definition, errors: FieldError[]): void {
  const field = 'status.storedVersions';
  const { storedVersions, versions } = definition;
  if (storedVersions.length === 0) {
    errors.push(invalidValue(field, asJsonList(storedVersions), 'must have at least one stored version'));
    return;
  }
  for (const version of versions) {
    if (!version.storage || storedVersions.includes(version.name)) continue;
    const detail = `must have the storage version ${version.name}`;
    errors.push(invalidValue(field, [...storedVersions], detail));
  }
  storedVersions.forEach((name, index) => {
    if (versions.some((version) => version.name === name)) return;
    const detail =
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions ` +
      `until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalidValue(`${field}[${index}]`, name, detail));
  });
}

/** Errors of a write to `/status` of a definition. */
export function validateDefinitionStatus(crd: KubeObject): readonly FieldError[] {
  return validateNames(readDefinition(crd).acceptedNames, 'status.acceptedNames');
}
