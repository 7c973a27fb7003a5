import type { KubeObject } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import type { BoundReference, ServiceAccountClaims } from './service-account-claims.ts';

const invalidated = 'service account token has been invalidated';
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';
/** Objects that are being deleted stay good for their tokens a little longer, as clocks differ. */
const leewayMs = 60_000;

/** Looks up whether a token's account and the object it is bound to still exist; a few map reads per request. */
export class BoundObjects {
  readonly #accounts: LiveView;
  readonly #pods: LiveView;
  readonly #secrets: LiveView;
  readonly #nodes: LiveView;

  constructor(views: LiveViews) {
    this.#accounts = views.of('', 'serviceaccounts');
    this.#pods = views.of('', 'pods');
    this.#secrets = views.of('', 'secrets');
    this.#nodes = views.of('', 'nodes');
  }

  /** Why the token is no longer good; `undefined` if it is. `now` in milliseconds. */
  findObjection(claims: ServiceAccountClaims, token: string, now: number): string | undefined {
    return (
      this.#objectToAccount(claims, now) ??
      (claims.legacySecretName === undefined
        ? this.#objectToBound(claims, now)
        : this.#objectToLegacy(claims, claims.legacySecretName, token))
    );
  }

  #objectToAccount({ identity }: ServiceAccountClaims, now: number): string | undefined {
    const { namespace, name, uid } = identity;
    const account = this.#accounts.get(namespace, name);
    if (!account) return `serviceaccounts ${JSON.stringify(name)} not found`;
    if (account.metadata.uid !== uid) {
      return `service account UID (${account.metadata.uid}) does not match claim (${uid})`;
    }
    return isGone(account, now) ? `service account ${namespace}/${name} has been deleted` : undefined;
  }

  #objectToBound({ identity, secret }: ServiceAccountClaims, now: number): string | undefined {
    const { namespace, pod, node } = identity;
    if (secret) {
      const objection = objectTo(this.#secrets.get(namespace, secret.name), secret, now);
      if (objection !== undefined) return objection;
    }
    if (pod) return objectTo(this.#pods.get(namespace, pod.name), pod, now);
    return node && objectTo(this.#nodes.get('', node.name), node, now);
  }

  #objectToLegacy({ identity }: ServiceAccountClaims, secretName: string, token: string): string | undefined {
    const secret = this.#secrets.get(identity.namespace, secretName);
    if (!secret || secret.metadata.deletionTimestamp) return 'Token has been invalidated';
    if (secretData(secret, 'token') !== token) return "Token does not match server's copy";
    if (secret.metadata.labels?.[invalidSinceLabel]) {
      return `the token in secret ${identity.namespace}/${secretName} for service account ${identity.namespace}/${identity.name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`;
    }
    return undefined;
  }
}

function objectTo(
  object: KubeObject | undefined,
  reference: BoundReference,
  now: number,
): string | undefined {
  return object && object.metadata.uid === reference.uid && !isGone(object, now) ? undefined : invalidated;
}

function isGone(object: KubeObject, now: number): boolean {
  const { deletionTimestamp } = object.metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now - leewayMs;
}

/** One value of a Secret's `data`, decoded; empty if it is missing. */
export function secretData(secret: KubeObject, key: string): string {
  const data = secret['data'];
  const value = isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}
