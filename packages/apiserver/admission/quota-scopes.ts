import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { objectAt, objectsAt, textAt, textsAt } from './object-field.ts';

interface Scope {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** Which pods a quota is about. A quota with scopes is about pods alone. */
export function scopesOf(quota: KubeObject): readonly Scope[] {
  const spec = objectAt(quota, 'spec');
  const plain = textsAt(spec, 'scopes').map((name) => ({ name, operator: 'Exists', values: [] }));
  const selected = objectsAt(objectAt(spec, 'scopeSelector'), 'matchExpressions').map((expression) => ({
    name: textAt(expression, 'scopeName'),
    operator: textAt(expression, 'operator'),
    values: textsAt(expression, 'values'),
  }));
  return [...plain, ...selected];
}

export function isInScopes(pod: KubeObject, scopes: readonly Scope[]): boolean {
  const spec = objectAt(pod, 'spec');
  return scopes.every((scope) => isInScope(spec, scope));
}

function isInScope(spec: JsonObject, scope: Scope): boolean {
  switch (scope.name) {
    case 'Terminating':
      return spec['activeDeadlineSeconds'] !== undefined;
    case 'NotTerminating':
      return spec['activeDeadlineSeconds'] === undefined;
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return matchesClass(textAt(spec, 'priorityClassName'), scope);
    case 'CrossNamespacePodAffinity':
      return reachesNamespaces(spec);
    default:
      return false;
  }
}

function isBestEffort(spec: JsonObject): boolean {
  const owners = [spec, ...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')];
  return owners.every((owner) => {
    const resources = objectAt(owner, 'resources');
    return ['requests', 'limits'].every((which) => {
      const names = Object.keys(objectAt(resources, which));
      return !names.includes('cpu') && !names.includes('memory');
    });
  });
}

function matchesClass(name: string, { operator, values }: Scope): boolean {
  switch (operator) {
    case 'In':
      return values.includes(name);
    case 'NotIn':
      return !values.includes(name);
    case 'Exists':
      return name !== '';
    case 'DoesNotExist':
      return name === '';
    default:
      return false;
  }
}

function reachesNamespaces(spec: JsonObject): boolean {
  const affinity = objectAt(spec, 'affinity');
  return ['podAffinity', 'podAntiAffinity'].some((kind) => {
    const rules = objectAt(affinity, kind);
    const preferred = objectsAt(rules, 'preferredDuringSchedulingIgnoredDuringExecution').map((item) =>
      objectAt(item, 'podAffinityTerm'),
    );
    const terms = [...objectsAt(rules, 'requiredDuringSchedulingIgnoredDuringExecution'), ...preferred];
    return terms.some(
      (term) => textsAt(term, 'namespaces').length > 0 || term['namespaceSelector'] !== undefined,
    );
  });
}
