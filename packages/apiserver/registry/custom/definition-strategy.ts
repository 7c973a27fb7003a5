import type { FieldError, JsonSchema, KubeObject } from '@sheaf/api';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import { compileSchemaRules } from '../../cel/index.ts';
import {
  type DefinitionChecks,
  defaultDefinition,
  definitionWarnings,
  keepDefinitionStatus,
  validateDefinition,
  validateDefinitionStatus,
} from '../../custom-resource/index.ts';
import type { Strategy } from '../resource.ts';

/** Held as long as objects of the custom resource are left. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const checks: DefinitionChecks = { compileRules };

/** The strategy of CustomResourceDefinitions themselves: the usual one of a built-in kind, and the rules of structural schemas. */
export function definitionStrategy(usual: Strategy): Strategy {
  return {
    ...usual,
    get typeSchema() {
      return usual.typeSchema;
    },
    allowsUnconditionalUpdate: false,
    applyDefaults(object) {
      usual.applyDefaults(object);
      defaultDefinition(object);
    },
    prepareForDelete: (object) => markTerminating(object),
    validateCreate: (object) => validateDefinition(object, undefined, checks),
    validateUpdate: (next, old, subresource) =>
      subresource === 'status' ? validateDefinitionStatus(next) : validateDefinition(next, old, checks),
    warnings: (next, old) => definitionWarnings(next, old),
    prepareForCreate(object) {
      usual.prepareForCreate(object);
      object.metadata.generation = 1;
      keepDefinitionStatus(object);
    },
    prepareForUpdate(next, old, subresource) {
      usual.prepareForUpdate(next, old, subresource);
      if (subresource === 'status') return;
      keepDefinitionStatus(next, old);
      const isSame = jsonEqual(next['spec'] as JsonValue, old['spec'] as JsonValue);
      next.metadata.generation = (old.metadata.generation ?? 0) + (isSame ? 0 : 1);
    },
  };
}

/** Instances go first; the clean-up takes the finalizer off when they are gone. */
function markTerminating({ metadata }: KubeObject): void {
  if (metadata.deletionTimestamp !== undefined) return;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(cleanupFinalizer)) metadata.finalizers = [...finalizers, cleanupFinalizer];
}

function compileRules(schema: JsonSchema, path: string, old: JsonSchema | undefined): readonly FieldError[] {
  // What was accepted once stays accepted.
  if (old !== undefined && JSON.stringify(old) === JSON.stringify(schema)) return [];
  return compileSchemaRules(schema, path).errors;
}
