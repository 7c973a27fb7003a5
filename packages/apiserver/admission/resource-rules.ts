import type { GroupVersionResource } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { textAt, textsAt } from './object-field.ts';
import type { AdmissionRequest } from './plugin.ts';

/** A rule of a webhook or a policy: operations on resources. */
export interface ResourceRule {
  readonly groups: ReadonlySet<string>;
  readonly versions: ReadonlySet<string>;
  readonly operations: ReadonlySet<string>;
  readonly resources: readonly (readonly [resource: string, subresource: string])[];
  readonly scope: string;
  /** Of policies; empty: any name. */
  readonly names: ReadonlySet<string>;
}

export function compileRule(rule: JsonObject): ResourceRule {
  return {
    groups: new Set(textsAt(rule, 'apiGroups')),
    versions: new Set(textsAt(rule, 'apiVersions')),
    operations: new Set(textsAt(rule, 'operations')),
    resources: textsAt(rule, 'resources').map(splitResource),
    scope: textAt(rule, 'scope') || '*',
    names: new Set(textsAt(rule, 'resourceNames')),
  };
}

function splitResource(text: string): readonly [string, string] {
  const slash = text.indexOf('/');
  return slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
}

/** `resource`: that of the request, or one under which the same objects are served too. */
export function ruleMatches(
  rule: ResourceRule,
  request: AdmissionRequest,
  resource: GroupVersionResource,
): boolean {
  return (
    has(rule.operations, request.operation) &&
    has(rule.groups, resource.group) &&
    has(rule.versions, resource.version) &&
    resourceMatches(rule, resource.resource, request.subresource) &&
    scopeMatches(rule.scope, request) &&
    (rule.names.size === 0 || rule.names.has(request.name))
  );
}

function has(set: ReadonlySet<string>, value: string): boolean {
  return set.has(value) || set.has('*');
}

function resourceMatches({ resources }: ResourceRule, wanted: string, wantedSub: string): boolean {
  for (const [resource, subresource] of resources) {
    if ((resource === '*' || resource === wanted) && (subresource === '*' || subresource === wantedSub))
      return true;
  }
  return false;
}

function scopeMatches(scope: string, request: AdmissionRequest): boolean {
  if (scope === '*') return true;
  return (scope === 'Namespaced') === (request.namespaced && request.namespace !== '');
}
