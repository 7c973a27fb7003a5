import type { JsonValue } from '@sheaf/base';
import type { LiveView } from '../storage/live-view.ts';
import { objectsAt, textAt } from './object-field.ts';
import type { AdmissionRequest } from './plugin.ts';
import { compileRule, type ResourceRule } from './resource-rules.ts';
import { findVersion, type Match } from './rule-match.ts';
import { compileSelection, type Selection, selectsNamespace, selectsObject } from './scope-selectors.ts';
import type { ServedKinds } from './served-versions.ts';

/** `matchConstraints` of a policy, or `matchResources` of a binding. */
export interface PolicyScope {
  readonly rules: readonly ResourceRule[];
  readonly excluded: readonly ResourceRule[];
  readonly matchesEquivalents: boolean;
  readonly namespaces: Selection;
  readonly objects: Selection;
}

export function compileScope(source: JsonValue | undefined): PolicyScope {
  const fields = typeof source === 'object' && source !== null && !Array.isArray(source) ? source : {};
  return {
    rules: objectsAt(fields, 'resourceRules').map(compileRule),
    excluded: objectsAt(fields, 'excludeResourceRules').map(compileRule),
    matchesEquivalents: textAt(fields, 'matchPolicy') === 'Equivalent',
    namespaces: compileSelection(fields['namespaceSelector']),
    objects: compileSelection(fields['objectSelector']),
  };
}

export interface ScopeParts {
  readonly kinds: ServedKinds;
  readonly namespaces: LiveView;
}

/** In what version a request is within a scope, if it is. @throws StatusError 404 if the namespace is missing */
export function matchScope(
  scope: PolicyScope,
  request: AdmissionRequest,
  { kinds, namespaces }: ScopeParts,
): Match | undefined {
  if (!selectsObject(scope.objects, request)) return undefined;
  const { matchesEquivalents } = scope;
  if (findVersion({ rules: scope.excluded, matchesEquivalents }, request, kinds)) return undefined;
  const match = scope.rules.length === 0 ? { version: undefined } : findVersion(scope, request, kinds);
  return match && selectsNamespace(scope.namespaces, request, namespaces) ? match : undefined;
}
