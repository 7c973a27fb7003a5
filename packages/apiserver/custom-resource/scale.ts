import type { FieldError } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { ScaleSettings } from './definition.ts';
import { invalidValue } from './field-errors.ts';
import { goJson, goNumber, isInteger, jsonTypeOf } from './go-text.ts';
import { getField, setField } from './object-fields.ts';

const maxInt32 = 2_147_483_647;

/** What the scale subresource shows of an object. */
export interface ScaleView {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: string;
}

/** The paths of the scale subresource are field names joined by dots. */
function split(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}

type Lookup = { readonly value: JsonValue | undefined } | { readonly fault: string };

function lookUp(object: JsonObject, path: string, wanted: 'int64' | 'string'): Lookup {
  const names = split(path);
  let value: JsonValue | undefined = object;
  for (const [index, name] of names.entries()) {
    if (value === null) return { value: undefined };
    if (!isJsonObject(value)) {
      return { fault: accessorFault(names.slice(0, index + 1), value, 'map[string]interface{}') };
    }
    value = getField(value, name);
    if (value === undefined) return { value };
  }
  const fits =
    wanted === 'string' ? typeof value === 'string' : typeof value === 'number' && isInteger(value);
  return fits ? { value } : { fault: accessorFault(names, value, wanted) };
}

const goTypes: Readonly<Record<string, string>> = {
  null: '<nil>',
  string: 'string',
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
  array: '[]interface {}',
  object: 'map[string]interface {}',
};

function accessorFault(names: readonly string[], value: JsonValue | undefined, wanted: string): string {
  const actual = goTypes[jsonTypeOf(value)] ?? '<nil>';
  return `.${names.join('.')} accessor error: ${show(value)} is of the type ${actual}, expected ${wanted}`;
}

function show(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return goNumber(value);
  return value === null || value === undefined ? '<nil>' : goJson(value);
}

/** Errors of the fields behind the scale subresource, reported under the path as it is written, dot included. */
export function validateScale(
  scale: ScaleSettings,
  object: JsonObject,
  subresource: '' | 'status',
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (subresource === '') addReplicas(errors, object, scale.specReplicasPath);
  addReplicas(errors, object, scale.statusReplicasPath);
  if (scale.labelSelectorPath !== undefined && scale.labelSelectorPath !== '') {
    const found = lookUp(object, scale.labelSelectorPath, 'string');
    if ('fault' in found) errors.push(invalidValue(scale.labelSelectorPath, '', found.fault));
  }
  return errors;
}

function addReplicas(errors: FieldError[], object: JsonObject, path: string): void {
  const found = lookUp(object, path, 'int64');
  if ('fault' in found) {
    errors.push(invalidValue(path, 0, found.fault));
    return;
  }
  const replicas = typeof found.value === 'number' ? found.value : 0;
  if (replicas < 0) errors.push(invalidValue(path, replicas, 'should be a non-negative integer'));
  if (replicas > maxInt32) {
    errors.push(invalidValue(path, replicas, `should be less than or equal to ${maxInt32}`));
  }
}

/** The scale of an object; nothing if it has no replicas in its spec. */
export function readScale(scale: ScaleSettings, object: JsonObject): ScaleView | undefined {
  const specReplicas = readReplicas(object, scale.specReplicasPath);
  if (specReplicas === undefined) return undefined;
  const selector =
    scale.labelSelectorPath === undefined ? undefined : lookUp(object, scale.labelSelectorPath, 'string');
  const text = selector !== undefined && 'value' in selector ? selector.value : undefined;
  return {
    specReplicas,
    statusReplicas: readReplicas(object, scale.statusReplicasPath) ?? 0,
    selector: typeof text === 'string' ? text : '',
  };
}

function readReplicas(object: JsonObject, path: string): number | undefined {
  const found = lookUp(object, path, 'int64');
  return 'value' in found && typeof found.value === 'number' ? found.value : undefined;
}

/** Writes the wanted replicas into an object, in place; objects on the way are made. */
export function writeReplicas(scale: ScaleSettings, object: JsonObject, replicas: number): void {
  const names = [...split(scale.specReplicasPath)];
  const last = names.pop() ?? '';
  let parent = object;
  for (const name of names) {
    const child = getField(parent, name);
    const next: JsonObject = isJsonObject(child) ? child : {};
    if (next !== child) setField(parent, name, next);
    parent = next;
  }
  setField(parent, last, replicas);
}
