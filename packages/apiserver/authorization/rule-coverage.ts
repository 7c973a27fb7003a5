import { type PolicyRule, pathMatches } from './policy-rule.ts';

/** Rules of more combinations than this are not taken apart. */
const maximumAtoms = 10_000;

/** The combinations of group, resource, verb and name are too many to be checked one by one. */
export class TooManyCombinationsError extends Error {}

/**
 * The parts of `wanted` that `held` does not cover, one verb, resource and name each, in order. Empty: all covered.
 * @throws TooManyCombinationsError if a few large rules stand for a vast number of small ones
 */
export function findUncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const open = wanted.filter((part) => !held.some((rule) => covers(rule, part)));
  const count = open.reduce((sum, rule) => sum + countAtoms(rule), 0);
  if (count > maximumAtoms) {
    throw new TooManyCombinationsError(
      `the rules are ${count} combinations of group, resource, verb and name, more than the ${maximumAtoms} that are checked: split the role`,
    );
  }
  return open.flatMap(breakDown).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

function countAtoms({ apiGroups, resources, verbs, resourceNames, nonResourceURLs }: PolicyRule): number {
  const resourceAtomCount =
    apiGroups.length * resources.length * verbs.length * Math.max(1, resourceNames.length);
  return resourceAtomCount + nonResourceURLs.length * verbs.length;
}

const empty: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

function* atomsOf(rule: PolicyRule): Generator<PolicyRule> {
  const names = rule.resourceNames.length > 0 ? rule.resourceNames.map((name) => [name]) : [[]];
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) yield* resourceAtoms(rule, [group, resource], names);
  }
  for (const url of rule.nonResourceURLs) {
    for (const verb of rule.verbs) yield { ...empty, nonResourceURLs: [url], verbs: [verb] };
  }
}

function* resourceAtoms(
  rule: PolicyRule,
  [group, resource]: readonly [string, string],
  names: readonly (readonly string[])[],
): Generator<PolicyRule> {
  for (const verb of rule.verbs) {
    for (const resourceNames of names) {
      yield { ...empty, apiGroups: [group], resources: [resource], verbs: [verb], resourceNames };
    }
  }
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  return [...atomsOf(rule)];
}

/** Whether `rule` alone covers all of `atom`; exact if that has at most one item in each list, else possibly too strict. */
function covers(rule: PolicyRule, atom: PolicyRule): boolean {
  return (
    holds(rule.verbs, atom.verbs) &&
    holds(rule.apiGroups, atom.apiGroups) &&
    coversResources(rule.resources, atom.resources) &&
    coversNames(rule.resourceNames, atom.resourceNames) &&
    atom.nonResourceURLs.every((url) => rule.nonResourceURLs.some((pattern) => pathMatches(pattern, url)))
  );
}

function holds(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes('*') || wanted.every((item) => held.includes(item));
}

function coversResources(held: readonly string[], wanted: readonly string[]): boolean {
  if (holds(held, wanted)) return true;
  return wanted.every((path) => {
    if (held.includes(path)) return true;
    const slash = path.indexOf('/');
    return slash >= 0 && held.includes(`*${path.slice(slash)}`);
  });
}

function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

/** Joins rules of one group and resource (and at most one name) that differ only in their verbs. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const compact: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = simpleKey(rule);
    if (key === undefined) {
      compact.push(rule);
      continue;
    }
    const present = simple.get(key);
    simple.set(key, present ? { ...present, verbs: [...present.verbs, ...rule.verbs] } : rule);
  }
  return [...compact, ...simple.values()];
}

function simpleKey(rule: PolicyRule): string | undefined {
  const isSimple =
    rule.apiGroups.length === 1 &&
    rule.resources.length === 1 &&
    rule.resourceNames.length <= 1 &&
    rule.nonResourceURLs.length === 0;
  return isSimple ? JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]) : undefined;
}
