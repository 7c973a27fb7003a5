import type { Invocation } from './admission-review.ts';
import type { AdmissionRequest } from './plugin.ts';
import { type ResourceRule, ruleMatches } from './resource-rules.ts';
import type { ServedKinds, ServedVersion } from './served-versions.ts';

/** The version in which a webhook or policy sees a request: that of the request itself, or another one. */
export type Match = { readonly version: ServedVersion | undefined };

export interface Rules {
  readonly rules: readonly ResourceRule[];
  /** Whether requests in other versions of the same objects match too. */
  readonly matchesEquivalents: boolean;
}

/** The version that the rules are written for; `undefined`: they are not about this request. */
export function findVersion(
  { rules, matchesEquivalents }: Rules,
  request: AdmissionRequest,
  kinds: ServedKinds,
): Match | undefined {
  if (rules.some((rule) => ruleMatches(rule, request, request.resource))) return { version: undefined };
  if (!matchesEquivalents || rules.length === 0) return undefined;
  const versions = kinds.versionsOf(request);
  if (versions.length === 0) return undefined;
  for (const rule of rules) {
    const version = versions.find(({ resource }) => ruleMatches(rule, request, resource));
    if (version) return { version };
  }
  return undefined;
}

/** The objects of a request in the version that was matched. @throws StatusError 500 if they cannot be converted */
export async function invocationOf(request: AdmissionRequest, { version }: Match): Promise<Invocation> {
  const { object, oldObject } = request;
  if (!version) return { kind: request.kind, resource: request.resource, object, oldObject };
  return {
    kind: version.kind,
    resource: version.resource,
    object: object && (await version.convert(object)),
    oldObject: oldObject && (await version.convert(oldObject)),
  };
}
