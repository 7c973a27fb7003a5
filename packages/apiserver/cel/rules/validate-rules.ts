import { type FieldError, forbiddenField, invalid, required, type ValidationRule } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { type CompiledExpression, type Outcome, perCallLimit, runtimeBudget } from '../expression.ts';
import { elementKey } from '../schema/json-value.ts';
import { EvaluationFailure } from '../values/failure.ts';
import { none, Optional, type Value } from '../values/value.ts';
import type { CompiledRule, RuleTree } from './rule-tree.ts';

/** Units left for the rules of one object. Below zero no further rule runs. */
export interface RuleBudget {
  remaining: number;
}

export interface RuleRequest {
  readonly value: JsonValue;
  /** On update the stored value; transition rules run only then. */
  readonly oldValue?: JsonValue | undefined;
  /** Path of the value, empty for a whole object. */
  readonly path?: string;
  readonly budget?: RuleBudget;
  /** Makes errors about parts that did not change into warnings. */
  readonly warn?: (error: FieldError) => void;
}

/** Runs all rules over a value. Errors are worded as upstream words them; never throws. */
export function validateRules(tree: RuleTree, request: RuleRequest): FieldError[] {
  const { value, oldValue, path = '', budget = { remaining: runtimeBudget }, warn } = request;
  const run: Run = { errors: [], budget, warn };
  const correlation: Correlation =
    warn && oldValue !== undefined && oldValue !== null
      ? { current: oldValue, value, parent: undefined }
      : unrelated;
  visit(run, tree, { path, value, old: oldValue, correlation });
  return run.errors;
}

interface Run {
  readonly errors: FieldError[];
  readonly budget: RuleBudget;
  readonly warn: ((error: FieldError) => void) | undefined;
}

/** The old value that a value belongs to, or else the nearest value around it that has one. */
interface Correlation {
  readonly current: JsonValue | undefined;
  readonly value: JsonValue;
  readonly parent: Correlation | undefined;
}

const unrelated: Correlation = { current: undefined, value: null, parent: undefined };

interface Visit {
  readonly path: string;
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
  readonly correlation: Correlation;
}

function visit(run: Run, tree: RuleTree, at: Visit): void {
  const { value } = at;
  if (value === null || run.budget.remaining < 0) return;
  if (tree.rules.length > 0) runRules(run, tree, at);
  for (const part of tree.allOf) visit(run, part, { ...at, correlation: withoutCurrent(at.correlation) });
  if (Array.isArray(value)) visitItems(run, tree, { ...at, value });
  else if (isJsonObject(value)) visitFields(run, tree, { ...at, value });
}

function withoutCurrent(correlation: Correlation): Correlation {
  return { current: undefined, value: null, parent: correlation.parent };
}

function visitItems(
  run: Run,
  { items, listKeys }: RuleTree,
  at: Visit & { readonly value: JsonValue[] },
): void {
  if (!items) return;
  const oldItems = oldByKey(at.old, listKeys);
  for (const [index, value] of at.value.entries()) {
    const old = listKeys && oldItems?.get(elementKey(value, listKeys));
    const correlation = child(at.correlation, old, value);
    visit(run, items, { path: `${at.path}[${index}]`, value, old, correlation });
  }
}

function oldByKey(
  old: JsonValue | undefined,
  keys: readonly string[] | undefined,
): ReadonlyMap<string, JsonValue> | undefined {
  if (!keys || !Array.isArray(old)) return undefined;
  return new Map(old.map((element) => [elementKey(element, keys), element]));
}

function visitFields(run: Run, tree: RuleTree, at: Visit & { readonly value: JsonObject }): void {
  const oldFields = isJsonObject(at.old) ? at.old : undefined;
  const { additionalProperties, properties } = tree;
  if (!additionalProperties && properties.size === 0) return;
  for (const [name, value] of Object.entries(at.value)) {
    if (value === undefined) continue;
    const old = ownField(oldFields, name);
    const correlation = fieldCorrelation(at.correlation, name, { old, value });
    if (additionalProperties)
      visit(run, additionalProperties, { path: `${at.path}[${name}]`, value, old, correlation });
    const property = properties.get(name);
    if (property) visit(run, property, { path: childPath(at.path, name), value, old, correlation });
  }
}

function ownField(object: JsonObject | undefined, name: string): JsonValue | undefined {
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** The version of a resource's own `apiVersion` and `kind` cannot be seen, so they never count as unchanged. */
function fieldCorrelation(
  correlation: Correlation,
  name: string,
  pair: { readonly old: JsonValue | undefined; readonly value: JsonValue },
): Correlation {
  const isRoot = correlation.current !== undefined && correlation.parent === undefined;
  if (isRoot && (name === 'apiVersion' || name === 'kind')) return unrelated;
  return child(correlation, pair.old, pair.value);
}

function child(correlation: Correlation, old: JsonValue | undefined, value: JsonValue): Correlation {
  if (correlation.current === undefined) return correlation;
  return { current: old, value, parent: correlation };
}

function isUnchanged(correlation: Correlation): boolean {
  if (correlation.current !== undefined) return jsonEqual(correlation.current, correlation.value);
  const { parent } = correlation;
  return parent?.current !== undefined && jsonEqual(parent.current, parent.value);
}

function runRules(run: Run, tree: RuleTree, at: Visit): void {
  if (run.budget.remaining <= 0) {
    const detail =
      'validation failed due to running out of cost budget, no further validation rules will be run';
    return stop(run, invalid(at.path, tree.schemaType, detail));
  }
  const variables = bind(tree, at);
  for (const rule of tree.rules) {
    runRule(run, rule, { ...at, tree, variables });
    if (run.budget.remaining < 0) return;
  }
}

function stop(run: Run, error: FieldError): void {
  run.errors.push(error);
  run.budget.remaining = -1;
}

/** The values of `self` and `oldSelf`, or why there are none. */
type Variables = { readonly self: Value; readonly oldSelf: Value | undefined } | { readonly problem: string };

function bind(tree: RuleTree, { value, old }: Visit): Variables {
  const { adapt } = tree.declared;
  const hasOld = old !== undefined && old !== null && tree.rules.some((rule) => rule.usesOldSelf);
  try {
    return { self: adapt(value), oldSelf: hasOld ? adapt(old) : undefined };
  } catch (error) {
    if (error instanceof EvaluationFailure) return { problem: error.message };
    throw error;
  }
}

function hasOld({ old }: Visit): boolean {
  return old !== undefined && old !== null;
}

interface RuleVisit extends Visit {
  readonly tree: RuleTree;
  readonly variables: Variables;
}

function runRule(run: Run, compiled: CompiledRule, at: RuleVisit): void {
  const { rule, expression, error, usesOldSelf } = compiled;
  const { schemaType } = at.tree;
  if (error !== undefined) {
    run.errors.push(invalid(at.path, schemaType, `rule compile error: ${error}`));
    return;
  }
  if (!expression || (usesOldSelf && !rule.optionalOldSelf && !hasOld(at))) return;
  const slots = slotsOf(at.variables, rule);
  if ('problem' in slots) {
    run.errors.push(invalid(at.path, schemaType, failedText(slots.problem, rule)));
    return;
  }
  const outcome = evaluate(run, expression, slots.values);
  if (outcome === undefined) {
    const detail =
      'validation failed due to running out of cost budget, no further validation rules will be run';
    return stop(run, invalid(at.path, schemaType, detail));
  }
  if (!outcome.ok) reportFailure(run, outcome, { at, rule });
  else if (outcome.value !== true) reportViolation(run, compiled, { at, values: slots.values });
}

function slotsOf(
  variables: Variables,
  rule: ValidationRule,
): { values: readonly Value[] } | { problem: string } {
  if ('problem' in variables) return variables;
  const { self, oldSelf } = variables;
  if (rule.optionalOldSelf) return { values: [self, oldSelf === undefined ? none : new Optional(oldSelf)] };
  return { values: oldSelf === undefined ? [self] : [self, oldSelf] };
}

/** Runs an expression and books its cost; `undefined` if that is more than what is left. */
function evaluate(run: Run, expression: CompiledExpression, values: readonly Value[]): Outcome | undefined {
  const outcome = expression.run(values, perCallLimit);
  if (outcome.cost > run.budget.remaining) return undefined;
  run.budget.remaining -= outcome.cost;
  return outcome;
}

type FailedOutcome = Extract<Outcome, { readonly ok: false }>;

function reportFailure(
  run: Run,
  outcome: FailedOutcome,
  { at, rule }: { readonly at: RuleVisit; readonly rule: ValidationRule },
): void {
  const { schemaType } = at.tree;
  if (outcome.isCancelled) {
    const detail = `'${outcome.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`;
    return stop(run, invalid(at.path, schemaType, detail));
  }
  run.errors.push(invalid(at.path, schemaType, failedText(outcome.message, rule)));
}

function failedText(message: string, rule: ValidationRule): string {
  if (!message.startsWith('no such overload')) return `${message} evaluating rule: ${ruleText(rule)}`;
  return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`;
}

function ruleText({ message, rule }: ValidationRule): string {
  return (message || rule).trim();
}

interface Violation {
  readonly at: RuleVisit;
  readonly values: readonly Value[];
}

function reportViolation(run: Run, compiled: CompiledRule, { at, values }: Violation): void {
  const { rule, fieldPath, usesOldSelf } = compiled;
  const path = fieldPath === undefined ? at.path : childPath(at.path, fieldPath);
  const add = (error: FieldError): void => {
    if (run.warn && !usesOldSelf && isUnchanged(at.correlation)) run.warn(error);
    else run.errors.push(error);
  };
  const written = compiled.messageExpression
    ? writeMessage(run, compiled.messageExpression, { values, source: rule.messageExpression ?? '' })
    : { text: undefined };
  if ('fatal' in written) {
    add(invalid(path, at.tree.schemaType, written.fatal));
    run.budget.remaining = -1;
    return;
  }
  const detail = written.text ?? (rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`);
  add(violation(path, detail, { rule, at }));
}

const maxMessageBytes = 5 * 1024;

/** The text of a message expression; no text if it cannot be used, and then the rule's own message is. */
function writeMessage(
  run: Run,
  expression: CompiledExpression,
  { values, source }: { readonly values: readonly Value[]; readonly source: string },
): { readonly text: string | undefined } | { readonly fatal: string } {
  const outcome = evaluate(run, expression, values);
  if (outcome === undefined)
    return {
      fatal:
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    };
  if (!outcome.ok && outcome.isCancelled)
    return {
      fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(source)}`,
    };
  const text = outcome.ok && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= maxMessageBytes;
  return { text: isUsable ? text : undefined };
}

/** The error of a broken rule. Objects and arrays are not shown. */
function violation(
  path: string,
  detail: string,
  { rule, at }: { readonly rule: ValidationRule; readonly at: RuleVisit },
): FieldError {
  const isShown = at.tree.schemaType !== 'object' && at.tree.schemaType !== 'array';
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbiddenField(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate': {
      const message = isShown ? `Duplicate value: ${JSON.stringify(at.value)}` : 'Duplicate value';
      return { type: 'FieldValueDuplicate', field: path, message };
    }
    default:
      if (isShown) return invalid(path, at.value, detail);
      return { type: 'FieldValueInvalid', field: path, message: `Invalid value: ${detail}` };
  }
}
