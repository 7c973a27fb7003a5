import { isJsonObject, type JsonObject } from '@sheaf/base';
import { textOf } from './jwt.ts';
import { parseServiceAccountUserName, type ServiceAccountIdentity } from './service-account-user.ts';

export const legacyIssuer = 'kubernetes/serviceaccount';

/** An object a token dies with. */
export interface BoundReference {
  readonly name: string;
  readonly uid: string;
}

/** What a service-account token says, after its signature was found good. */
export interface ServiceAccountClaims {
  readonly identity: ServiceAccountIdentity;
  readonly secret: BoundReference | undefined;
  /** Set for tokens kept in Secrets: the Secret must still hold this very token. */
  readonly legacySecretName: string | undefined;
}

/** Reads either form of claims. @throws Error naming what is missing */
export function readServiceAccountClaims(claims: JsonObject): ServiceAccountClaims {
  return claims['iss'] === legacyIssuer ? readLegacyClaims(claims) : readBoundClaims(claims);
}

function readBoundClaims(claims: JsonObject): ServiceAccountClaims {
  const own = claims['kubernetes.io'];
  if (!isJsonObject(own)) throw new Error('the kubernetes.io claim is missing');
  const account = readReference(own['serviceaccount']);
  const namespace = own['namespace'];
  if (!account || typeof namespace !== 'string') throw new Error('the serviceaccount claim is missing');
  const pod = readReference(own['pod']);
  const node = readReference(own['node']);
  const tokenId = claims['jti'];
  return {
    identity: {
      namespace,
      ...account,
      ...(typeof tokenId === 'string' && { tokenId }),
      ...(pod && { pod }),
      ...(node && { node }),
    },
    secret: readReference(own['secret']),
    legacySecretName: undefined,
  };
}

function readReference(value: unknown): BoundReference | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, uid } = value;
  return { name: typeof name === 'string' ? name : '', uid: typeof uid === 'string' ? uid : '' };
}

const legacyPrefix = 'kubernetes.io/serviceaccount/';

function readLegacyClaims(claims: JsonObject): ServiceAccountClaims {
  const namespace = requireText(claims, 'namespace', 'namespace');
  const secretName = requireText(claims, 'secret.name', 'secretName');
  const name = requireText(claims, 'service-account.name', 'serviceAccountName');
  const uid = requireText(claims, 'service-account.uid', 'serviceAccountUID');
  const subject = parseServiceAccountUserName(textOf(claims['sub']));
  if (subject?.namespace !== namespace || subject.name !== name) throw new Error('sub claim is invalid');
  return { identity: { namespace, name, uid }, secret: undefined, legacySecretName: secretName };
}

function requireText(claims: JsonObject, claim: string, title: string): string {
  const value = claims[legacyPrefix + claim];
  if (typeof value !== 'string' || value === '') throw new Error(`${title} claim is missing`);
  return value;
}

/** The claims of a token that a Secret of type `kubernetes.io/service-account-token` holds; it never expires. */
export function legacyClaims(account: ServiceAccountIdentity, secretName: string): JsonObject {
  return {
    iss: legacyIssuer,
    [`${legacyPrefix}namespace`]: account.namespace,
    [`${legacyPrefix}secret.name`]: secretName,
    [`${legacyPrefix}service-account.name`]: account.name,
    [`${legacyPrefix}service-account.uid`]: account.uid,
    sub: `system:serviceaccount:${account.namespace}:${account.name}`,
  };
}
