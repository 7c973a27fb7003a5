import { type FieldError, forbiddenField, invalid, type JsonSchema, type ValidationRule } from '@sheaf/api';
import type { Declarations } from '../checker/context.ts';
import { optionalOf } from '../checker/type.ts';
import { createEnvironment } from '../environment.ts';
import { type Compilation, type CompiledExpression, compileExpression } from '../expression.ts';
import { type DeclaredType, declareType } from '../schema/declared-type.ts';
import { escapeName } from '../schema/escape.ts';
import { CostLedger } from './cost-ledger.ts';
import { estimateCost } from './estimate.ts';
import { normalizeFieldPath } from './field-path.ts';
import { checkRuleFields } from './rule-fields.ts';
import type { CompiledRule, RuleTree } from './rule-tree.ts';

/** The rules of a schema. `tree` is absent if there are none; `errors` are for the author of the CRD. */
export interface CompiledRules {
  readonly tree: RuleTree | undefined;
  readonly errors: readonly FieldError[];
}

/** Where in a schema rules are being compiled. */
interface Position {
  readonly path: string;
  readonly isResource: boolean;
  readonly declared: DeclaredType | undefined;
  /** How often a value of this schema can occur; `undefined` if nothing bounds it. */
  readonly cardinality: number | undefined;
  /** Where the schema stops being comparable with its old value. */
  readonly uncorrelatable: string | undefined;
}

interface Compilations {
  readonly errors: FieldError[];
  readonly ledger: CostLedger;
}

/**
 * Compiles the `x-kubernetes-validations` of the schema of a custom resource. `path` is that of the schema in the
 * CRD, e.g. `spec.versions[0].schema.openAPIV3Schema`.
 */
export function compileSchemaRules(
  schema: JsonSchema,
  path = 'spec.validation.openAPIV3Schema',
): CompiledRules {
  if (!hasRules(schema)) return { tree: undefined, errors: [] };
  const state: Compilations = { errors: [], ledger: new CostLedger() };
  const declared = declareType(schema, true);
  const tree = compileNode(state, schema, {
    path,
    isResource: true,
    declared,
    cardinality: 1,
    uncorrelatable: undefined,
  });
  return { tree, errors: [...state.errors, ...state.ledger.errors(path)] };
}

function hasRules(schema: JsonSchema): boolean {
  if (schema['x-kubernetes-validations']?.length) return true;
  const { properties, items, additionalProperties, allOf } = schema;
  const children = [...Object.values(properties ?? {}), ...(allOf ?? [])];
  if (items) children.push(items);
  if (typeof additionalProperties === 'object') children.push(additionalProperties);
  return children.some(hasRules);
}

const noProperties: ReadonlyMap<string, RuleTree> = new Map();

function compileNode(state: Compilations, schema: JsonSchema, position: Position): RuleTree | undefined {
  if (!hasRules(schema)) return undefined;
  const rules = compileOwnRules(state, schema, position);
  const { declared } = position;
  if (!declared) return undefined;
  return {
    rules,
    declared,
    schemaType: position.isResource ? 'object' : (schema.type ?? ''),
    properties: compileProperties(state, schema, position),
    items: compileItems(state, schema, position),
    additionalProperties: compileAdditional(state, schema, position),
    allOf: compileAllOf(schema, schema.allOf ?? [], position),
    listKeys: schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined,
  };
}

function embedded(schema: JsonSchema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

function compileProperties(
  state: Compilations,
  schema: JsonSchema,
  position: Position,
): ReadonlyMap<string, RuleTree> {
  if (!schema.properties) return noProperties;
  const trees = new Map<string, RuleTree>();
  for (const [name, property] of Object.entries(schema.properties)) {
    const tree = compileNode(state, property, {
      ...position,
      path: `${position.path}.properties[${name}]`,
      isResource: embedded(property),
      declared: propertyType(position.declared, name, property),
    });
    if (tree) trees.set(name, tree);
  }
  return trees;
}

/** The type of a property: part of its object's, or, where its name cannot be written in CEL, on its own. */
function propertyType(
  owner: DeclaredType | undefined,
  name: string,
  property: JsonSchema,
): DeclaredType | undefined {
  const escaped = escapeName(name);
  const known = escaped === undefined ? undefined : owner?.fields?.get(escaped);
  return known ?? declareType(property, embedded(property));
}

function compileItems(state: Compilations, schema: JsonSchema, position: Position): RuleTree | undefined {
  const { items } = schema;
  if (!items) return undefined;
  const isKeyed = schema['x-kubernetes-list-type'] === 'map';
  return compileNode(state, items, {
    path: `${position.path}.items`,
    isResource: embedded(items),
    declared: position.declared?.element ?? declareType(items, embedded(items)),
    cardinality: multiply(position.cardinality, schema.maxItems),
    uncorrelatable: position.uncorrelatable ?? (isKeyed ? undefined : position.path),
  });
}

function compileAdditional(
  state: Compilations,
  schema: JsonSchema,
  position: Position,
): RuleTree | undefined {
  const values = schema.additionalProperties;
  if (typeof values !== 'object') return undefined;
  return compileNode(state, values, {
    ...position,
    path: `${position.path}.additionalProperties`,
    isResource: embedded(values),
    declared: position.declared?.element ?? declareType(values, embedded(values)),
    cardinality: multiply(position.cardinality, schema.maxProperties),
  });
}

function multiply(cardinality: number | undefined, most: number | undefined): number | undefined {
  return cardinality === undefined || most === undefined ? undefined : cardinality * Math.max(0, most);
}

/** Rules inside `allOf` see the fields of the schema around it. Upstream does not check them when the CRD is made. */
function compileAllOf(
  schema: JsonSchema,
  parts: readonly JsonSchema[],
  position: Position,
): readonly RuleTree[] {
  const trees: RuleTree[] = [];
  for (const part of parts) {
    if (!hasRules(part)) continue;
    const state: Compilations = { errors: [], ledger: new CostLedger() };
    const tree = compileNode(state, overlay(schema, part), position);
    if (tree) trees.push(tree);
  }
  return trees;
}

/** The rules of `part` on the structure of `spine`. */
function overlay(spine: JsonSchema, part: JsonSchema): JsonSchema {
  const { 'x-kubernetes-validations': _rules, properties, allOf: _allOf, ...rest } = spine;
  const merged: JsonSchema = { ...rest };
  const rules = part['x-kubernetes-validations'];
  if (rules) merged['x-kubernetes-validations'] = rules;
  if (part.allOf) merged.allOf = part.allOf;
  if (properties) merged.properties = overlayProperties(properties, part.properties ?? {});
  if (spine.items) merged.items = overlay(spine.items, part.items ?? {});
  const { additionalProperties: values } = spine;
  const partValues = typeof part.additionalProperties === 'object' ? part.additionalProperties : {};
  if (typeof values === 'object') merged.additionalProperties = overlay(values, partValues);
  return merged;
}

function overlayProperties(
  properties: Readonly<Record<string, JsonSchema>>,
  parts: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, overlay(property, parts[name] ?? {})]),
  );
}

function compileOwnRules(
  state: Compilations,
  schema: JsonSchema,
  position: Position,
): readonly CompiledRule[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const fieldErrors = rules.flatMap((rule, index) =>
    checkRuleFields(rule, schema, rulePath(position, index)),
  );
  state.errors.push(...fieldErrors);
  if (rules.length === 0) return [];
  const { declared } = position;
  if (!declared) {
    const field = `${position.path}.x-kubernetes-validations`;
    const message =
      'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
    state.errors.push({ type: 'InternalError', field, message: `Internal error: ${message}` });
    return [];
  }
  const environments = environmentsOf(declared);
  return rules.map((rule, index) => {
    const environment = rule.optionalOldSelf ? environments.optional : environments.plain;
    const compiled = compileRule(rule, schema, environment);
    if (fieldErrors.length === 0)
      report(state, compiled, { ...position, declared, path: rulePath(position, index) });
    return compiled.rule;
  });
}

function rulePath(position: Position, index: number): string {
  return `${position.path}.x-kubernetes-validations[${index}]`;
}

interface Environments {
  readonly plain: Declarations;
  readonly optional: Declarations;
}

function environmentsOf({ type }: DeclaredType): Environments {
  return {
    plain: createEnvironment({ variables: { self: type, oldSelf: type } }),
    optional: createEnvironment({ variables: { self: type, oldSelf: optionalOf(type) } }),
  };
}

interface RuleResult {
  readonly rule: CompiledRule;
  readonly messageError: string | undefined;
}

function compileRule(rule: ValidationRule, schema: JsonSchema, environment: Declarations): RuleResult {
  const source = compileExpression(rule.rule, environment);
  const error = rule.rule.trim() === '' ? undefined : ruleError(source);
  const expression = error === undefined ? source.compiled : undefined;
  const message = expression && compileMessage(rule, environment);
  return {
    rule: {
      rule,
      expression,
      error,
      messageExpression: message?.expression,
      usesOldSelf: expression?.uses('oldSelf') ?? false,
      fieldPath: rule.fieldPath ? normalizeFieldPath(rule.fieldPath, schema) : undefined,
    },
    messageError: message?.error,
  };
}

interface MessageResult {
  readonly expression?: CompiledExpression;
  readonly error?: string;
}

function compileMessage({ messageExpression }: ValidationRule, environment: Declarations): MessageResult {
  if (!messageExpression) return {};
  const compilation = compileExpression(messageExpression, environment);
  const error = messageExpressionError(compilation);
  if (error !== undefined) return { error };
  return compilation.compiled ? { expression: compilation.compiled } : {};
}

function ruleError({ compiled, error, isInstantiation }: Compilation): string | undefined {
  if (!compiled) return `${isInstantiation ? 'program instantiation' : 'compilation'} failed: ${error}`;
  return compiled.resultType.kind === 'bool' ? undefined : 'cel expression must evaluate to a bool';
}

function messageExpressionError(compilation: Compilation): string | undefined {
  const { compiled, error, isInstantiation } = compilation;
  if (!compiled)
    return `messageExpression ${isInstantiation ? 'instantiation' : 'compilation'} failed: ${error}`;
  return compiled.resultType.kind === 'string' ? undefined : 'messageExpression must evaluate to a string';
}

/** A rule as upstream shows it in errors. */
function showRule(rule: ValidationRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

type RulePosition = Position & { readonly declared: DeclaredType };

function report(
  state: Compilations,
  { rule: compiled, messageError }: RuleResult,
  position: RulePosition,
): void {
  const { rule, error, expression, messageExpression } = compiled;
  const { path } = position;
  if (expression) reportCost(state, expression, { ...position, name: 'rule' });
  if (error !== undefined) state.errors.push(invalid(`${path}.rule`, showRule(rule), error));
  if (messageError !== undefined)
    state.errors.push(invalid(`${path}.messageExpression`, showRule(rule), messageError));
  if (messageExpression)
    reportCost(state, messageExpression, { ...position, cardinality: 1, name: 'messageExpression' });
  reportOldSelf(state, compiled, position);
}

function reportOldSelf(
  state: Compilations,
  { rule, usesOldSelf }: CompiledRule,
  position: RulePosition,
): void {
  const { path, uncorrelatable } = position;
  if (usesOldSelf && uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
    state.errors.push(invalid(`${path}.rule`, rule.rule, detail));
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    state.errors.push(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail));
  }
}

type CostPosition = RulePosition & { readonly name: 'rule' | 'messageExpression' };

function reportCost(state: Compilations, expression: CompiledExpression, position: CostPosition): void {
  const { path, name, declared } = position;
  const cost = estimateCost(
    expression,
    new Map([
      ['self', declared],
      ['oldSelf', declared],
    ]),
  );
  const message = state.ledger.add({
    path: `${path}.${name}`,
    name,
    cost,
    cardinality: position.cardinality,
    minSize: declared.minSize,
  });
  if (message !== undefined) state.errors.push(forbiddenField(`${path}.${name}`, message));
}
