import type { KubeObject } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';
import type { AuthorizationAttributes } from './attributes.ts';

/** `rbac.authorization.k8s.io/v1 PolicyRule`; absent lists are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const none: readonly string[] = [];
const parsedRules = new WeakMap<KubeObject, readonly PolicyRule[]>();

/** The rules of a Role or ClusterRole; each object is read once. Malformed parts grant nothing. */
export function rulesOf(role: KubeObject): readonly PolicyRule[] {
  let rules = parsedRules.get(role);
  if (!rules) {
    rules = parseRules(role['rules']);
    parsedRules.set(role, rules);
  }
  return rules;
}

export function parseRules(value: unknown): readonly PolicyRule[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).map((rule) => ({
    verbs: stringsOf(rule['verbs']),
    apiGroups: stringsOf(rule['apiGroups']),
    resources: stringsOf(rule['resources']),
    resourceNames: stringsOf(rule['resourceNames']),
    nonResourceURLs: stringsOf(rule['nonResourceURLs']),
  }));
}

/** The strings of a list; anything else is left out. */
export function stringsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) return none;
  return value.filter((item): item is string => typeof item === 'string');
}

/** Whether one rule allows the request, names included. */
export function ruleAllows(rule: PolicyRule, attributes: AuthorizationAttributes): boolean {
  if (!attributes.isResource) {
    return matchesVerb(rule, attributes.verb) && matchesPath(rule, attributes.path);
  }
  return ruleConcerns(rule, attributes) && matchesName(rule, attributes.name);
}

/** As `ruleAllows` for resources, without looking at the object's name. */
export function ruleConcerns(
  rule: PolicyRule,
  attributes: {
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly subresource: string;
  },
): boolean {
  return (
    matchesVerb(rule, attributes.verb) &&
    (rule.apiGroups.includes('*') || rule.apiGroups.includes(attributes.group)) &&
    matchesResource(rule, attributes.resource, attributes.subresource)
  );
}

function matchesVerb(rule: PolicyRule, verb: string): boolean {
  return rule.verbs.includes(verb) || rule.verbs.includes('*');
}

function matchesResource(rule: PolicyRule, resource: string, subresource: string): boolean {
  if (rule.resources.includes('*')) return true;
  if (subresource === '') return rule.resources.includes(resource);
  return rule.resources.includes(`${resource}/${subresource}`) || rule.resources.includes(`*/${subresource}`);
}

function matchesName(rule: PolicyRule, name: string): boolean {
  return rule.resourceNames.length === 0 || rule.resourceNames.includes(name);
}

function matchesPath(rule: PolicyRule, path: string): boolean {
  return rule.nonResourceURLs.some((pattern) => pathMatches(pattern, path));
}

/** `*`, the path itself, or a pattern with trailing `*`. */
export function pathMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(withoutStars(pattern)));
}

function withoutStars(pattern: string): string {
  let end = pattern.length;
  while (end > 0 && pattern[end - 1] === '*') end--;
  return pattern.slice(0, end);
}

/** One rule as escalation messages write it. */
export function ruleText(rule: PolicyRule): string {
  const parts: string[] = [];
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  for (const [name, values] of lists) {
    if (values.length > 0) parts.push(`${name}:${quotedList(values)}`);
  }
  return `{${parts.join(', ')}}`;
}

/** `["a" "b"]`: how upstream's messages print a list of strings. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
