import { type FieldError, forbiddenField, required } from '@sheaf/api';
import { type Definition, type DefinitionVersion, findVersion, isShared } from './definition.ts';
import type { DefinitionChecks } from './definition-validation.ts';
import { invalidValue } from './field-errors.ts';
import { dns1035LabelFaults } from './name-syntax.ts';
import { validateColumn, validateScaleSettings } from './printer-columns.ts';
import { validateDefaults } from './schema-defaults.ts';
import { findUnreadable, validateKeywords } from './schema-keywords.ts';
import { readSchema, type SchemaNode, SchemaTooDeep } from './schema-node.ts';
import { validateSelectableFields } from './selectable-fields.ts';
import { validateStructural } from './structural-rules.ts';

/** Checks each version: its name, schema, subresources, columns and selectable fields. */
export function validateVersions(
  definition: Definition,
  old: Definition | undefined,
  checks: DefinitionChecks,
): readonly FieldError[] {
  const { versions } = definition;
  const shared: SharedParts = {
    schema: isShared(versions, 'schema'),
    subresources: isShared(versions, 'subresources'),
    additionalPrinterColumns: isShared(versions, 'additionalPrinterColumns'),
    selectableFields: isShared(versions, 'selectableFields'),
  };
  const anyStatus = versions.some((version) => version.hasStatus);
  return versions.flatMap((version, index) => {
    const oldVersion = old === undefined ? undefined : findVersion(old, version.name);
    const hasStatus = shared.schema ? anyStatus : version.hasStatus;
    const errors: FieldError[] = [];
    validateVersion(version, { index, shared, hasStatus, old: oldVersion, checks, errors });
    return errors;
  });
}

type Part = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields';
type SharedParts = Readonly<Record<Part, boolean>>;

interface VersionPlace {
  readonly index: number;
  /** What all versions say alike is checked with the first one, and reported outside the versions. */
  readonly shared: SharedParts;
  readonly hasStatus: boolean;
  readonly old: DefinitionVersion | undefined;
  readonly checks: DefinitionChecks;
  readonly errors: FieldError[];
}

/** The path of a part; nothing where another version has it checked already. */
function pathOf(place: VersionPlace, part: Part): string | undefined {
  if (!place.shared[part]) return `spec.versions[${place.index}].${part}`;
  if (place.index > 0) return undefined;
  return `spec.${part === 'schema' ? 'validation' : part}`;
}

function validateVersion(version: DefinitionVersion, place: VersionPlace): void {
  const { errors } = place;
  const own = `spec.versions[${place.index}]`;
  validateVersionName(version, own, errors);
  if (version.schema === undefined) errors.push(required(`${own}.schema.openAPIV3Schema`));
  const root = readRoot(version, `${own}.schema.openAPIV3Schema`, errors);
  const schemaPath = pathOf(place, 'schema');
  if (root !== undefined && schemaPath !== undefined) {
    errors.push(...validateSchema(version, root, { ...place, path: `${schemaPath}.openAPIV3Schema` }));
  }
  const subresourcesPath = pathOf(place, 'subresources');
  if (subresourcesPath !== undefined) errors.push(...validateScaleSettings(version.scale, subresourcesPath));
  const columnsPath = pathOf(place, 'additionalPrinterColumns');
  if (columnsPath !== undefined) {
    version.columns.forEach((column, position) => {
      errors.push(...validateColumn(column, `${columnsPath}[${position}]`));
    });
  }
  const fieldsPath = pathOf(place, 'selectableFields');
  if (fieldsPath !== undefined) {
    errors.push(...validateSelectableFields(version.selectableFields, root, fieldsPath));
  }
}

function readRoot(version: DefinitionVersion, path: string, errors: FieldError[]): SchemaNode | undefined {
  if (version.schema === undefined) return undefined;
  try {
    return readSchema(version.schema);
  } catch (error) {
    if (!(error instanceof SchemaTooDeep)) throw error;
    errors.push(invalidValue(path, '', error.message));
    return undefined;
  }
}

function validateVersionName(version: DefinitionVersion, path: string, errors: FieldError[]): void {
  const faults = dns1035LabelFaults(version.name);
  if (faults.length > 0) errors.push(invalidValue(`${path}.name`, version.name, faults.join(',')));
  for (const fault of deprecationFaults(version)) {
    errors.push(invalidValue(`${path}.deprecationWarning`, version.deprecationWarning, fault));
  }
}

function deprecationFaults(version: DefinitionVersion): readonly string[] {
  const warning = version.deprecationWarning;
  if (warning === undefined) return [];
  if (!version.deprecated) return ['can only be set for deprecated versions'];
  const faults: string[] = [];
  if (Buffer.byteLength(warning) > 256) faults.push('must be <= 256 characters long');
  if (warning === '') faults.push('must not be an empty string');
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd !== null) {
    const index = Buffer.byteLength(warning.slice(0, odd.index));
    faults.push(
      `must only contain printable UTF-8 characters; non-printable character found at index ${index}`,
    );
  }
  return faults;
}

interface SchemaPlace {
  readonly path: string;
  readonly hasStatus: boolean;
  readonly old: DefinitionVersion | undefined;
  readonly checks: DefinitionChecks;
}

function validateSchema(
  version: DefinitionVersion,
  root: SchemaNode,
  place: SchemaPlace,
): readonly FieldError[] {
  const { path } = place;
  const errors: FieldError[] = place.hasStatus ? [...validateRootForStatus(root, path)] : [];
  if (root.nullable) errors.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'));
  const unreadable = findUnreadable(root);
  if (unreadable === undefined) {
    const structural = validateStructural(root, path);
    errors.push(...(structural.length > 0 ? structural : validateDefaults(root, path)));
  }
  validateKeywords(root, { path, errors, isRoot: true, isInsideMeta: false, noDefaultsBecause: undefined });
  if (errors.length > 0) return errors;
  if (unreadable !== undefined) return [invalidValue(path, '', unreadable)];
  const { compileRules } = place.checks;
  if (compileRules === undefined || version.schema === undefined) return [];
  return compileRules(version.schema, path, place.old?.schema);
}

const notAtRoot = [
  'nullable',
  'default',
  'enum',
  'maxProperties',
  'minProperties',
  'allOf',
  'oneOf',
  'anyOf',
  'not',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
];

const allowedAtRoot =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern ' +
  'MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

/** With a status subresource the status is validated by its own part of the schema, so the root may not judge it. */
function validateRootForStatus(root: SchemaNode, path: string): readonly FieldError[] {
  if (root.type !== '' && root.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidValue(`${path}.type`, root.type, detail)];
  }
  const isRefused =
    root.unsupported.length > 0 ||
    root.additionalProperties !== undefined ||
    notAtRoot.some((keyword) => isPresent(root.source[keyword]));
  if (!isRefused) return [];
  const detail = `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidValue(path, root.source, detail)];
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}
