import {
  asJson,
  compileStructural,
  type FieldError,
  type KubeObject,
  type TypeSchema,
  toApiVersion,
} from '@sheaf/api';
import type { JsonValue } from '@sheaf/base';
import { compileSchemaRules, type RuleTree, validateRules } from '../../cel/index.ts';
import {
  type CompiledSchema,
  compileSchema,
  compileSchemaLazily,
  type Definition,
  type DefinitionVersion,
  findBlockingError,
  findVersion,
} from '../../custom-resource/index.ts';
import { compileJsonPath, type JsonPath, printJsonPathValue } from '../../custom-resource/json-path.ts';
import { validateScale } from '../../custom-resource/scale.ts';
import type { ResetFields } from '../../managed-fields/index.ts';
import type { Strategy } from '../resource.ts';
import { keepAllButStatus, keepStatus, startGeneration } from '../shared-strategy.ts';

export interface CustomStrategyOptions {
  readonly definition: Definition;
  readonly version: DefinitionVersion;
  /** Objects written before this revision may lack what the schema has gained since. */
  readonly schemaRevision: number;
  /** Between the version that is kept and this one; identity in the common case. */
  readonly conversion: VersionConversion;
}

/** How objects of one version come from and go to the version that is kept. */
export interface VersionConversion {
  /** True if kept bytes can be served with another apiVersion at most. */
  readonly isTrivial: boolean;
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
  fromStorage(objects: readonly KubeObject[]): readonly KubeObject[] | Promise<readonly KubeObject[]>;
}

/** The behaviour of one version of a custom resource, from its schema. */
export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { definition, version, conversion } = options;
  const schema = compileSchemaLazily(version.schema);
  const rules = lazyRules(version);
  const traits = { hasStatus: version.hasStatus, tracksGeneration: true };
  const selectable = version.selectableFields.map((path) => ({
    label: path.replace(/^\./, ''),
    path: compileJsonPath(path),
  }));
  const apiVersion = toApiVersion(definition.group, version.name);
  const empty: KubeObject = { kind: definition.names.kind, apiVersion, metadata: {} };
  let typeSchema: TypeSchema | undefined;
  return {
    nameRule: 'dns-subdomain',
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: false,
    defaultPropagation: 'Background',
    servesStoredBytes: conversion.isTrivial,
    schemaRevision: options.schemaRevision,
    get typeSchema() {
      typeSchema ??= compileStructural(
        version.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      );
      return typeSchema;
    },
    selectableFieldNames: new Set(selectable.map(({ label }) => label)),
    selectableFields: (object) => readSelectable(selectable, object),
    conform(object) {
      return { object, unknownFields: schema.prune(asJson(object)).map(unknownField) };
    },
    unknownFieldsAs({ group, version: other, kind }, json) {
      if (group !== definition.group || kind !== definition.names.kind) return [];
      return compileSchema(findVersion(definition, other)?.schema).prune(json).map(unknownField);
    },
    applyDefaults: (object) => schema.applyDefaults(asJson(object)),
    prepareForCreate: (object) => startGeneration(object, traits),
    prepareForUpdate(next, old, subresource) {
      if (subresource === 'status') keepAllButStatus(next, old);
      else keepStatus(next, old, traits);
    },
    validateCreate: (object) => [
      ...validateObject({ schema, rules }, object, undefined),
      ...scaleErrors(version, object, ''),
    ],
    validateUpdate(next, old, subresource) {
      const errors =
        subresource === 'status'
          ? validateStatus({ schema, rules }, next, old)
          : validateObject({ schema, rules }, next, old);
      return [...errors, ...scaleErrors(version, next, subresource === 'status' ? 'status' : '')];
    },
    warnings: () => [],
    emptyObject: () => empty,
    resetFields: (subresource) => resetFieldsOf(version, subresource),
    toStorage: (object) => conversion.toStorage(object),
    async fromStorage(objects) {
      const converted = await conversion.fromStorage(objects);
      for (const object of converted) {
        schema.prune(asJson(object), { dropInvalidMetadata: true });
        schema.applyDefaults(asJson(object));
      }
      return converted;
    },
  };
}

function unknownField(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}

interface Validation {
  readonly schema: CompiledSchema;
  readonly rules: () => RuleTree | undefined;
}

/** Rules are compiled when the first object comes. */
function lazyRules(version: DefinitionVersion): () => RuleTree | undefined {
  let compiled: { readonly tree: RuleTree | undefined } | undefined;
  return () => {
    compiled ??= { tree: version.schema && compileSchemaRules(version.schema).tree };
    return compiled.tree;
  };
}

function validateObject(
  validation: Validation,
  next: KubeObject,
  old: KubeObject | undefined,
): readonly FieldError[] {
  const { schema, rules } = validation;
  const errors = schema.validate(asJson(next), old && asJson(old));
  return [...errors, ...ruleErrors(rules(), { next, old, blocking: findBlockingError(errors) })];
}

function validateStatus(validation: Validation, next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = validation.schema.validateStatus(asJson(next), asJson(old));
  return [...errors, ...ruleErrors(validation.rules(), { next, old, blocking: findBlockingError(errors) })];
}

interface RuleInput {
  readonly next: KubeObject;
  readonly old: KubeObject | undefined;
  /** Set where the schema's errors make the rules pointless. */
  readonly blocking: FieldError | undefined;
}

function ruleErrors(tree: RuleTree | undefined, { next, old, blocking }: RuleInput): readonly FieldError[] {
  if (!tree) return [];
  // Rules may rely on the schema: on an object that breaks it they are not asked.
  if (blocking) return [blocking];
  const value = asJson(next) as JsonValue;
  if (!old) return validateRules(tree, { value });
  return validateRules(tree, { value, oldValue: asJson(old), warn: () => {} });
}

function scaleErrors(
  version: DefinitionVersion,
  object: KubeObject,
  subresource: '' | 'status',
): readonly FieldError[] {
  return version.scale ? validateScale(version.scale, asJson(object), subresource) : [];
}

function readSelectable(
  selectable: readonly { label: string; path: JsonPath }[],
  object: KubeObject,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { label, path } of selectable) {
    const value = path.findFirst(asJson(object));
    values[label] = value === undefined ? '' : printJsonPathValue(value);
  }
  return values;
}

const nothing: ResetFields = [];
const statusOnly: ResetFields = [['status']];
const allButStatus: ResetFields = [['metadata'], ['spec']];

/** A write to `/status` owns the status alone, one to the object everything else. */
function resetFieldsOf(version: DefinitionVersion, subresource: string): ResetFields {
  if (!version.hasStatus) return nothing;
  return subresource === 'status' ? allButStatus : statusOnly;
}
