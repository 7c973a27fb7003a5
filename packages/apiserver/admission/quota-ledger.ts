import type { KubeObject } from '@sheaf/api';
import { quantityOf, subtractQuantities } from '@sheaf/base';
import type { LiveChange, LiveView, LiveViews } from '../storage/live-view.ts';
import { type Amounts, addAmounts } from './pod-resources.ts';
import { isInScopes, scopesOf } from './quota-scopes.ts';
import { usageOf } from './quota-usage.ts';

/**
 * What the objects of one resource use in the namespaces that have quotas: computed once for each quota, then kept in
 * step with every change. The objects alone decide; nothing is stored.
 */
export class QuotaLedger {
  readonly #resource: string;
  readonly #view: LiveView;
  readonly #quotas: LiveView;
  #isFollowing = false;
  /** By namespace, then by the scopes of quotas as text. */
  readonly #accounts = new Map<string, Map<string, Account>>();

  /** `resource`: plural. */
  constructor(resource: string, views: LiveViews) {
    this.#resource = resource;
    this.#view = views.of('', resource);
    this.#quotas = views.of('', 'resourcequotas');
  }

  /** What is used of what a quota is about. Shared; must not be changed. */
  usedBy(quota: KubeObject): Amounts {
    // Without quotas changes cost nothing.
    if (!this.#isFollowing) this.#view.onChange((change) => this.#follow(change));
    this.#isFollowing = true;
    const namespace = quota.metadata.namespace ?? '';
    const scopes = scopesOf(quota);
    const key = JSON.stringify(scopes);
    let accounts = this.#accounts.get(namespace);
    if (!accounts) this.#accounts.set(namespace, (accounts = new Map()));
    let account = accounts.get(key);
    if (!account) {
      account = { used: new Map(), counts: (object) => isInScopes(object, scopes) };
      for (const object of this.#view.list(namespace)) this.#add(account, object);
      accounts.set(key, account);
    }
    return account.used;
  }

  #follow({ namespace, object, previous }: LiveChange): void {
    const accounts = this.#accounts.get(namespace);
    if (!accounts) return;
    if (this.#quotas.list(namespace).length === 0) this.#accounts.delete(namespace);
    for (const account of accounts.values()) {
      if (object) this.#add(account, object);
      if (previous) this.#subtract(account, previous);
    }
  }

  #add(account: Account, object: KubeObject): void {
    if (account.counts(object)) addAmounts(account.used, usageOf(this.#resource, object));
  }

  #subtract(account: Account, object: KubeObject): void {
    if (!account.counts(object)) return;
    for (const [name, amount] of usageOf(this.#resource, object)) {
      const known = account.used.get(name) ?? quantityOf(0);
      account.used.set(name, subtractQuantities(known, amount));
    }
  }
}

interface Account {
  readonly used: Amounts;
  counts(object: KubeObject): boolean;
}
