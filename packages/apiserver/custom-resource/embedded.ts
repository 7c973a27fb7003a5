import type { FieldError } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { validateEmbeddedMeta } from './embedded-meta.ts';
import { showValue } from './go-text.ts';
import { dns1035LabelFaults } from './name-syntax.ts';
import { MetadataFault, readMeta } from './object-meta.ts';
import type { SchemaNode } from './schema-node.ts';

/** True when a schema has `x-kubernetes-embedded-resource` somewhere below its root. */
export function hasEmbedded(node: SchemaNode, isRoot = true): boolean {
  if (!isRoot && node.embeddedResource) return true;
  for (const property of node.properties.values()) if (hasEmbedded(property, false)) return true;
  if (node.items !== undefined && hasEmbedded(node.items, false)) return true;
  const others = node.additionalProperties?.schema;
  return others !== undefined && hasEmbedded(others, false);
}

export interface CoerceOptions {
  readonly dropInvalid: boolean;
  readonly unknown: string[];
}

/** Brings the metadata of embedded resources into shape. Throws MetadataFault with the path in its message. */
export function coerceEmbedded(root: JsonObject, node: SchemaNode, options: CoerceOptions): void {
  walk(root, node, {
    path: '',
    visit(value, path) {
      coerceResource(value, path, options);
    },
  });
}

interface Walk {
  readonly path: string;
  visit(value: JsonObject, path: string): void;
}

/** Visits embedded resources, outer ones first; the root itself counts only if its schema says so. */
function walk(value: JsonValue | undefined, node: SchemaNode | undefined, state: Walk): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      walk(value[i], node.items, { ...state, path: `${state.path}[${i}]` });
    }
    return;
  }
  if (node.embeddedResource) state.visit(value, state.path);
  for (const key of Object.keys(value)) {
    const named = node.properties.get(key);
    if (named !== undefined) walk(value[key], named, { ...state, path: at(state.path, key) });
    else walk(value[key], node.additionalProperties?.schema, { ...state, path: `${state.path}[${key}]` });
  }
}

function at(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function coerceResource(resource: JsonObject, path: string, options: CoerceOptions): void {
  for (const key of ['apiVersion', 'kind']) {
    const value = resource[key];
    if (value === undefined || typeof value === 'string') continue;
    if (!options.dropInvalid) throw fault(at(path, key), value, 'must be a string');
    delete resource[key];
  }
  const { metadata } = resource;
  if (metadata === undefined) return;
  try {
    resource['metadata'] = readMeta(metadata, { ...options, path: at(path, 'metadata') });
  } catch (error) {
    if (!(error instanceof MetadataFault)) throw error;
    if (!options.dropInvalid) throw fault(at(path, 'metadata'), metadata, error.message);
  }
}

function fault(path: string, value: JsonValue, detail: string): MetadataFault {
  return new MetadataFault(`${path}: Invalid value: ${showValue(value)}: ${detail}`);
}

/** Checks kind, apiVersion and metadata of embedded resources. */
export function validateEmbedded(root: JsonValue, node: SchemaNode, path = ''): readonly FieldError[] {
  const errors: FieldError[] = [];
  walk(root, node, {
    path,
    visit(value, at) {
      validateResource(value, at, errors);
    },
  });
  return errors;
}

function validateResource(resource: JsonObject, path: string, errors: FieldError[]): void {
  for (const key of ['apiVersion', 'kind']) {
    if (resource[key] !== undefined) continue;
    errors.push({ type: 'FieldValueRequired', field: at(path, key), message: 'Required value' });
  }
  addFaults(errors, { field: at(path, 'apiVersion'), value: resource['apiVersion'], rule: apiVersionFaults });
  addFaults(errors, { field: at(path, 'kind'), value: resource['kind'], rule: kindFaults });
  if (isJsonObject(resource['metadata'])) {
    errors.push(...validateEmbeddedMeta(resource['metadata'], at(path, 'metadata')));
  }
}

interface TextField {
  readonly field: string;
  readonly value: JsonValue | undefined;
  readonly rule: (text: string) => readonly string[];
}

function addFaults(errors: FieldError[], { field, value, rule }: TextField): void {
  if (value === undefined) return;
  const faults = typeof value === 'string' ? rule(value) : ['must be a string'];
  for (const detail of faults) {
    errors.push({
      type: 'FieldValueInvalid',
      field,
      message: `Invalid value: ${showValue(value)}: ${detail}`,
    });
  }
}

function apiVersionFaults(text: string): readonly string[] {
  if (text === '') return ['must not be empty'];
  return text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];
}

function kindFaults(text: string): readonly string[] {
  if (text === '') return ['must not be empty'];
  const faults = dns1035LabelFaults(text.toLowerCase());
  return faults.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${faults.join(',')}`];
}
