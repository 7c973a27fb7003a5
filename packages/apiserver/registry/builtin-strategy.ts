import {
  asJson,
  asObject,
  type BuiltinResource,
  conform,
  findGoKind,
  type GoStruct,
  type KindConversion,
  type KindRules,
  type KubeObject,
  kindRulesOf,
  type TypeSchema,
  toApiVersion,
  typeSchemaOf,
} from '@sheaf/api';
import { internalError } from '@sheaf/base';
import type { ResetFields } from '../managed-fields/index.ts';
import type { Strategy } from './resource.ts';
import { keepAllButStatus, keepStatus, type SharedTraits, startGeneration } from './shared-strategy.ts';
import { statusMetadataOf, statusResets } from './status-metadata.ts';

/** The behaviour of a built-in kind: its generated schema and the rules written for it. */
export function builtinStrategy(resource: BuiltinResource, conversion?: KindConversion): Strategy {
  const rules: KindRules = kindRulesOf(resource.group, resource.kind);
  const gvk = { group: resource.group, version: resource.version, kind: resource.kind };
  const traits: SharedTraits = {
    hasStatus: resource.subresources.some((item) => item.name === 'status'),
    tracksGeneration: rules.tracksGeneration ?? false,
  };
  const statusMetadata = statusMetadataOf(gvk);
  let schema: TypeSchema | undefined;
  let struct: GoStruct | undefined;
  let empty: KubeObject | undefined;
  const typeSchema = (): TypeSchema => {
    schema ??= typeSchemaOf(gvk);
    return schema;
  };
  const goStruct = (): GoStruct => {
    struct ??= findGoKind(gvk);
    if (!struct) throw internalError(`no type is known of ${gvk.kind}`);
    return struct;
  };
  return {
    nameRule: rules.nameRule ?? 'dns-subdomain',
    allowsCreateOnUpdate: rules.allowsCreateOnUpdate ?? false,
    allowsUnconditionalUpdate: rules.allowsUnconditionalUpdate ?? true,
    defaultPropagation: rules.defaultPropagation ?? 'Background',
    servesStoredBytes: conversion === undefined,
    schemaRevision: 0,
    selectableFieldNames: selectableNames(rules),
    get typeSchema() {
      return typeSchema();
    },
    conform(object) {
      const { value, unknownFields } = conform(asJson(object), goStruct(), gvk);
      return { object: asObject(value), unknownFields };
    },
    unknownFieldsAs(kind, json) {
      const other = findGoKind(kind);
      return other === undefined ? [] : conform(json, other, kind).unknownFields;
    },
    emptyObject() {
      const { group, version, kind } = gvk;
      empty ??= asObject(conform({ kind, apiVersion: toApiVersion(group, version) }, goStruct(), gvk).value);
      return empty;
    },
    applyDefaults: (object) => rules.applyDefaults?.(object),
    prepareForCreate(object) {
      startGeneration(object, traits);
      rules.prepareForCreate?.(object);
    },
    prepareForUpdate(next, old, subresource) {
      if (subresource === 'status') return keepAllButStatus(next, old, statusMetadata);
      if (!followsMainRules(subresource)) return;
      rules.prepareForUpdate?.(next, old);
      keepStatus(next, old, traits);
    },
    validateCreate: (object) => rules.validateCreate?.(object) ?? [],
    validateUpdate(next, old, subresource) {
      if (subresource === 'status') return rules.validateStatusUpdate?.(next, old) ?? [];
      return followsMainRules(subresource) ? (rules.validateUpdate?.(next, old) ?? []) : [];
    },
    warnings: (next, old) => rules.warnings?.(next, old) ?? [],
    selectableFields: (object) => rules.selectableFields?.(object) ?? {},
    resetFields: (subresource) => {
      if (!traits.hasStatus) return nothingReset;
      return subresource === 'status' ? statusResets(statusMetadata) : resetOnMain;
    },
    toStorage: (object) => (conversion ? conversion.toStorage(object) : object),
    fromStorage: (objects: readonly KubeObject[]) =>
      conversion ? objects.map((object) => conversion.fromStorage(object)) : objects,
  };
}

/** Other subresources (binding, approval, finalize …) change only what their handlers let through. */
function followsMainRules(subresource: string): boolean {
  return subresource === '' || subresource === 'scale';
}

const nothingReset: ResetFields = [];
const resetOnMain: ResetFields = [['status']];

/** The labels that field selectors may use, learned from an empty object. */
function selectableNames(rules: KindRules): ReadonlySet<string> {
  return new Set(Object.keys(rules.selectableFields?.({ metadata: {} }) ?? {}));
}
