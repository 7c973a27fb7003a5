import { type FieldError, forbiddenField } from '@sheaf/api';
import { invalidValue, unsupportedValue } from './field-errors.ts';
import { validateListKeywords, validateMapType } from './list-keywords.ts';
import { validateRuleTexts } from './rule-texts.ts';
import type { SchemaNode } from './schema-node.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

export interface KeywordState {
  readonly path: string;
  readonly errors: FieldError[];
  readonly isRoot: boolean;
  /** Below kind, apiVersion or metadata of the root or of an embedded resource. */
  readonly isInsideMeta: boolean;
  /** Why defaults are forbidden here; nothing where they are allowed. */
  readonly noDefaultsBecause: string | undefined;
}

/** Checks the keywords of a schema and of all below it, apart from what makes it structural. */
export function validateKeywords(node: SchemaNode, state: KeywordState): void {
  validateOwnKeywords(node, state);
  validateAdditional(node, state);
  for (const [name, property] of node.properties) {
    validateKeywords(property, propertyState(node, name, state));
  }
  const children: readonly (readonly [string, SchemaNode])[] = [
    ...(node.not === undefined ? [] : [['not', node.not] as const]),
    ...node.allOf.map((branch, index) => [`allOf[${index}]`, branch] as const),
    ...node.oneOf.map((branch, index) => [`oneOf[${index}]`, branch] as const),
    ...node.anyOf.map((branch, index) => [`anyOf[${index}]`, branch] as const),
    ...(node.items === undefined ? [] : [['items', node.items] as const]),
    ...node.itemSchemas.map((item, index) => [`items[${index}]`, item] as const),
  ];
  for (const [name, child] of children) validateKeywords(child, below(state, name));
  if (node.preserveUnknown === false) {
    const field = `${state.path}.x-kubernetes-preserve-unknown-fields`;
    state.errors.push(invalidValue(field, false, 'must be true or undefined'));
  }
  validateMapType(node, state);
  validateListKeywords(node, state);
  validateRuleTexts(node, state);
}

function below(state: KeywordState, name: string): KeywordState {
  return { ...state, path: `${state.path}.${name}`, isRoot: false };
}

function propertyState(node: SchemaNode, name: string, state: KeywordState): KeywordState {
  const child = below(state, `properties[${name}]`);
  if (!(state.isRoot || node.embeddedResource) || !metaFields.has(name)) return child;
  const noDefaultsBecause = state.isRoot ? `in top-level ${name}` : state.noDefaultsBecause;
  return { ...child, isInsideMeta: true, noDefaultsBecause };
}

function validateType(node: SchemaNode, { path, errors }: KeywordState): void {
  if (node.type === 'null') {
    errors.push(unsupportedValue(`${path}.type`, node.type, types));
    const detail = 'type cannot be set to null, use nullable as an alternative';
    errors.push(forbiddenField(`${path}.type`, detail));
  } else if (node.type !== '' && !types.includes(node.type)) {
    errors.push(unsupportedValue(`${path}.type`, node.type, types));
  }
}

function validateOwnKeywords(node: SchemaNode, state: KeywordState): void {
  const { path, errors } = state;
  validateType(node, state);
  if (node.defaultValue !== undefined && state.noDefaultsBecause !== undefined) {
    errors.push(forbiddenField(`${path}.default`, `must not be set ${state.noDefaultsBecause}`));
  }
  for (const keyword of node.unsupported) {
    errors.push(forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`));
  }
  if (node.itemSchemas.length > 0) {
    errors.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (state.isInsideMeta && node.embeddedResource) {
    const field = `${path}.x-kubernetes-embedded-resource`;
    errors.push(forbiddenField(field, 'must not be used inside of resource meta'));
  }
  if (node.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbiddenField(`${path}.uniqueItems`, detail));
  }
}

function validateAdditional(node: SchemaNode, state: KeywordState): void {
  const others = node.additionalProperties;
  if (others === undefined) return;
  if (node.properties.size > 0 && (!others.allows || others.schema !== undefined)) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    state.errors.push(forbiddenField(`${state.path}.additionalProperties`, detail));
  }
  if (others.schema === undefined) return;
  const child = below(state, 'additionalProperties');
  const reason = 'inside additionalProperties applying to object metadata';
  validateKeywords(others.schema, state.isInsideMeta ? { ...child, noDefaultsBecause: reason } : child);
}

/** What keeps a schema from being read as structural at all, as one sentence. */
export function findUnreadable(node: SchemaNode): string | undefined {
  const [keyword] = node.unsupported;
  if (keyword !== undefined) {
    return `OpenAPIV3Schema '${keyword === '$schema' ? 'schema' : keyword}' is not supported`;
  }
  if (node.preserveUnknown === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (node.itemSchemas.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const child of childrenOf(node)) {
    const found = findUnreadable(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childrenOf(node: SchemaNode): readonly SchemaNode[] {
  const single = [node.not, node.items, node.additionalProperties?.schema];
  return [
    ...single.filter((child) => child !== undefined),
    ...node.allOf,
    ...node.anyOf,
    ...node.oneOf,
    ...node.properties.values(),
  ];
}
