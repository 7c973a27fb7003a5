import type { KubeObject } from '@sheaf/api';
import { addQuantities, compareQuantities, quantityOf, quantitySign, subtractQuantities } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { objectAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { type Amounts, amountsOf, amountsText } from './pod-resources.ts';
import { QuotaLedger } from './quota-ledger.ts';
import { Reservations } from './quota-reservations.ts';
import { isInScopes, scopesOf } from './quota-scopes.ts';
import { unspecified, usageOf } from './quota-usage.ts';
import { refusal } from './refusal.ts';
import type { ServedKinds } from './served-versions.ts';

export interface QuotaOptions {
  readonly views: LiveViews;
  readonly kinds: ServedKinds;
}

/** Kinds whose changes may use more. */
const growing: ReadonlySet<string> = new Set(['/persistentvolumeclaims', '/services']);

/**
 * Holds namespaces to their ResourceQuotas. What is used is what is there, and what writes under way have been promised:
 * however many writes race, no more than the quota allows comes to be.
 */
export function resourceQuota({ views, kinds }: QuotaOptions): AdmissionPlugin {
  const quotas = views.of('', 'resourcequotas');
  const usage = new Usage(views, kinds);
  return {
    name: 'ResourceQuota',
    handles: (request) => mayUseMore(request) && quotas.list(request.namespace).length > 0,
    validate: (request) => checkQuotas(request, quotas, usage),
  };
}

function mayUseMore({ operation, subresource, namespace, resource, object }: AdmissionRequest): boolean {
  if (!object || namespace === '') return false;
  const id = `${resource.group}/${resource.resource}`;
  if (operation === 'CREATE') return subresource === '';
  if (operation !== 'UPDATE') return false;
  return id === '/pods' ? subresource === 'resize' : subresource === '' && growing.has(id);
}

class Usage {
  readonly #kinds: ServedKinds;
  readonly #ledgers: ReadonlyMap<string, QuotaLedger>;
  readonly reservations: Reservations;

  constructor(views: LiveViews, kinds: ServedKinds) {
    this.#kinds = kinds;
    this.reservations = new Reservations((request) => kinds.isWritten(request));
    this.#ledgers = new Map(
      ['pods', 'persistentvolumeclaims', 'services'].map((resource) => [
        resource,
        new QuotaLedger(resource, views),
      ]),
    );
  }

  /** What is there, by the names that a quota may use for this resource. */
  usedBy(quota: KubeObject, { resource }: AdmissionRequest): Amounts {
    const ledger = resource.group === '' ? this.#ledgers.get(resource.resource) : undefined;
    const used: Amounts = new Map(ledger?.usedBy(quota));
    const count = quantityOf(this.#kinds.count(resource, quota.metadata.namespace ?? ''));
    for (const name of countNames(resource.group, resource.resource)) used.set(name, count);
    return used;
  }
}

/** The names under which mere existence is counted. */
function countNames(group: string, resource: string): readonly string[] {
  const name = group === '' ? `count/${resource}` : `count/${resource}.${group}`;
  return group === '' && plainlyCounted.has(resource) ? [name, resource] : [name];
}

const plainlyCounted: ReadonlySet<string> = new Set([
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]);

const noAmounts: Amounts = new Map();

/** What the write would use more than what it replaces. */
function demandOf(request: AdmissionRequest): Amounts {
  const { group, resource } = request.resource;
  const { object, oldObject } = request;
  const demand: Amounts = new Map(object && group === '' ? usageOf(resource, object) : []);
  if (!oldObject) for (const name of countNames(group, resource)) demand.set(name, quantityOf(1));
  const before = oldObject && group === '' ? usageOf(resource, oldObject) : noAmounts;
  for (const [name, amount] of demand) {
    const more = subtractQuantities(amount, before.get(name) ?? quantityOf(0));
    if (quantitySign(more) > 0) demand.set(name, more);
    else demand.delete(name);
  }
  return demand;
}

function checkQuotas(request: AdmissionRequest, quotas: LiveView, usage: Usage): void {
  const demand = demandOf(request);
  if (demand.size === 0) return;
  const promised: { quota: string; amounts: Amounts }[] = [];
  for (const quota of quotas.list(request.namespace)) {
    const hard = amountsOf(objectAt(objectAt(quota, 'spec'), 'hard'));
    if (!isAbout(quota, request)) continue;
    checkSpecified(request, quota, hard);
    const wanted = new Map([...demand].filter(([name]) => hard.has(name)));
    if (wanted.size === 0) continue;
    checkQuota(request, quota, { hard, wanted, usage });
    promised.push({ quota: quota.metadata.uid ?? '', amounts: wanted });
  }
  if (!request.dryRun)
    for (const { quota, amounts } of promised) usage.reservations.add(request, quota, amounts);
}

function isAbout(quota: KubeObject, { resource, object }: AdmissionRequest): boolean {
  const scopes = scopesOf(quota);
  if (scopes.length === 0) return true;
  const isPod = resource.group === '' && resource.resource === 'pods';
  return isPod && object !== undefined && isInScopes(object, scopes);
}

function checkSpecified(request: AdmissionRequest, quota: KubeObject, hard: Amounts): void {
  const { resource, operation, object } = request;
  if (resource.resource !== 'pods' || resource.group !== '' || operation !== 'CREATE' || !object) return;
  const missing = unspecified(object, hard.keys());
  if (missing !== '') throw refusal(request, `failed quota: ${quota.metadata.name}: must specify ${missing}`);
}

interface Check {
  readonly hard: Amounts;
  readonly wanted: Amounts;
  readonly usage: Usage;
}

function checkQuota(request: AdmissionRequest, quota: KubeObject, { hard, wanted, usage }: Check): void {
  const present = usage.usedBy(quota, request);
  const promised = usage.reservations.of(quota.metadata.uid ?? '');
  const used: Amounts = new Map();
  const exceeded: string[] = [];
  for (const [name, more] of wanted) {
    const zero = quantityOf(0);
    const now = addQuantities(present.get(name) ?? zero, promised.get(name) ?? zero);
    used.set(name, now);
    const limit = hard.get(name);
    if (limit && compareQuantities(addQuantities(now, more), limit) > 0) exceeded.push(name);
  }
  if (exceeded.length === 0) return;
  const only = (amounts: Amounts): string =>
    amountsText(new Map([...amounts].filter(([name]) => exceeded.includes(name))));
  throw refusal(
    request,
    `exceeded quota: ${quota.metadata.name}, requested: ${only(wanted)}, used: ${only(used)}, limited: ${only(hard)}`,
  );
}
