import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { listAt, objectAt } from '../fields.ts';

const rules: readonly (readonly [string, string])[] = [
  ['StabilizationWindowSeconds', 'stabilizationWindowSeconds'],
  ['SelectPolicy', 'selectPolicy'],
];
const policy: readonly (readonly [string, string])[] = [
  ['Type', 'type'],
  ['Value', 'value'],
  ['PeriodSeconds', 'periodSeconds'],
];

/** The form in which the annotation of autoscaling/v1 holds `spec.behavior`: all fields, capitalized. */
export function annotatedBehavior(behavior: JsonObject): JsonObject {
  return {
    ScaleUp: annotatedRules(objectAt(behavior, 'scaleUp')),
    ScaleDown: annotatedRules(objectAt(behavior, 'scaleDown')),
  };
}

function annotatedRules(given: JsonObject | undefined): JsonValue {
  if (given === undefined) return null;
  const form: JsonObject = {};
  for (const [name, field] of rules) form[name] = given[field] ?? null;
  form['Policies'] = Array.isArray(given['policies'])
    ? listAt(given, 'policies').map((item) => renamed(item, policy, 0))
    : null;
  form['Tolerance'] = given['tolerance'] ?? null;
  return form;
}

/** Capital letters in front: one list serves both ways. */
function renamed(item: JsonObject, names: readonly (readonly [string, string])[], target: 0 | 1): JsonObject {
  const form: JsonObject = {};
  for (const pair of names) {
    const value = item[pair[1 - target] ?? ''];
    if (value !== undefined && value !== null) form[pair[target]] = value;
  }
  return form;
}

export function behaviorOf(form: JsonObject): JsonObject | undefined {
  const behavior: JsonObject = {};
  const [up, down] = [rulesOf(form['ScaleUp']), rulesOf(form['ScaleDown'])];
  if (up !== undefined) behavior['scaleUp'] = up;
  if (down !== undefined) behavior['scaleDown'] = down;
  return up === undefined && down === undefined ? undefined : behavior;
}

function rulesOf(form: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(form)) return undefined;
  const given = renamed(form, rules, 1);
  if (Array.isArray(form['Policies']))
    given['policies'] = listAt(form, 'Policies').map((item) => renamed(item, policy, 1));
  if (form['Tolerance'] !== undefined && form['Tolerance'] !== null) given['tolerance'] = form['Tolerance'];
  return given;
}
