import { identityOf } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import type { Clock } from '@sheaf/base';
import type { Client } from '@sheaf/client';

export interface TokenOrder {
  /** Empty: the server's own. */
  readonly audience: string;
  readonly seconds: number;
}

interface Held {
  readonly token: string;
  /** A fresh one is asked for from then on, milliseconds since 1970. */
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/** Tokens of the service accounts of pods, each bound to its pod, renewed when four fifths of their time are over. */
export class AccountTokens {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();

  constructor({ client, clock }: { readonly client: Client; readonly clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  /** `undefined` before it was renewed. */
  find(pod: Pod, order: TokenOrder): string | undefined {
    const held = this.#held.get(keyOf(pod, order));
    return held && held.expiresAtMs > this.#clock.now() ? held.token : undefined;
  }

  /** Gets the tokens that are missing or old. Resolves to when that is due again. @throws StatusError */
  async renew(pod: Pod, orders: readonly TokenOrder[], signal: AbortSignal): Promise<number | undefined> {
    let nextMs: number | undefined;
    for (const order of orders) {
      const held = this.#held.get(keyOf(pod, order));
      const current =
        held && held.renewAtMs > this.#clock.now() ? held : await this.#request(pod, order, signal);
      this.#held.set(keyOf(pod, order), current);
      nextMs = Math.min(
        nextMs ?? Number.POSITIVE_INFINITY,
        Math.max(1000, current.renewAtMs - this.#clock.now()),
      );
    }
    return nextMs;
  }

  forget(podUid: string): void {
    for (const key of this.#held.keys()) if (key.startsWith(`${podUid} `)) this.#held.delete(key);
  }

  async #request(pod: Pod, { audience, seconds }: TokenOrder, signal: AbortSignal): Promise<Held> {
    const { namespace, name, uid } = identityOf(pod);
    const account = pod.spec.serviceAccountName || 'default';
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        ...(audience !== '' && { audiences: [audience] }),
        expirationSeconds: seconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    };
    const target = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const answer = await this.#client.raw(target, { method: 'POST', body: JSON.stringify(body), signal });
    const status = answer['status'] as
      | { readonly token?: string; readonly expirationTimestamp?: string }
      | undefined;
    const now = this.#clock.now();
    const expiresAtMs = Date.parse(status?.expirationTimestamp ?? '') || now + seconds * 1000;
    return { token: status?.token ?? '', expiresAtMs, renewAtMs: now + (expiresAtMs - now) * 0.8 };
  }
}

function keyOf({ metadata }: Pod, { audience, seconds }: TokenOrder): string {
  return `${metadata.uid} ${seconds} ${audience}`;
}
