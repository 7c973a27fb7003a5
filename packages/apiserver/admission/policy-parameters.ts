import { type KubeObject, labelMatcherOf, matchesLabels } from '@sheaf/api';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import { textAt } from './object-field.ts';
import type { ParameterKind, ServedKinds } from './served-versions.ts';

/** Why a policy or binding cannot be used as it is written. */
export class PolicyConfigurationError extends Error {}

export interface ParameterSource {
  /** `spec.paramKind` of the policy. */
  readonly kind: JsonObject | undefined;
  /** `spec.paramRef` of the binding. */
  readonly reference: JsonObject | undefined;
  /** Of the request. */
  readonly namespace: string;
}

/**
 * The objects that a policy is evaluated with, once for each; `undefined` among them: once without any.
 * @throws PolicyConfigurationError
 */
export async function collectParameters(
  { kind, reference, namespace }: ParameterSource,
  kinds: ServedKinds,
): Promise<readonly (KubeObject | undefined)[]> {
  if (!kind || !reference) return [undefined];
  const place = placeOf(findKind(kind, kinds), reference, namespace);
  const found = await findParameters(place, reference);
  if (found.length > 0 || reference['parameterNotFoundAction'] !== 'Deny') return found;
  throw new PolicyConfigurationError(
    'no params found for policy binding with `Deny` parameterNotFoundAction',
  );
}

/** @throws PolicyConfigurationError if the kind is not served */
export function findKind(kind: JsonObject, kinds: ServedKinds): ParameterKind {
  const apiVersion = textAt(kind, 'apiVersion');
  const name = textAt(kind, 'kind');
  const found = kinds.findParameterKind(apiVersion, name);
  if (found) return found;
  throw new PolicyConfigurationError(
    `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${name}'`,
  );
}

interface ParameterPlace {
  readonly kind: ParameterKind;
  readonly namespace: string;
}

function placeOf(kind: ParameterKind, reference: JsonObject, requested: string): ParameterPlace {
  const own = textAt(reference, 'namespace');
  if (!kind.namespaced) {
    if (own === '') return { kind, namespace: '' };
    throw new PolicyConfigurationError(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    );
  }
  if (own === '' && requested === '') {
    throw new PolicyConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  }
  return { kind, namespace: own || requested };
}

async function findParameters(
  { kind, namespace }: ParameterPlace,
  reference: JsonObject,
): Promise<readonly KubeObject[]> {
  const name = textAt(reference, 'name');
  if (name !== '') {
    const found = await kind.get(namespace, name);
    return found ? [found] : [];
  }
  const { selector } = reference;
  if (!isJsonObject(selector)) throw new PolicyConfigurationError('one of name or selector must be provided');
  const matcher = labelMatcherOf(selector);
  return (await kind.list(namespace)).filter(({ metadata }) => matchesLabels(matcher, metadata.labels));
}
