import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import { done, parseKey, type ReconcileResult } from '@sheaf/runtime';
import {
  accountNameAnnotation,
  authorityConfigMap,
  defaultAccount,
  filledSecret,
  planAuthority,
  planToken,
} from './plan.ts';

/** Whom a token in a Secret is for. */
export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly secretName: string;
}

export interface ServiceAccountOptions {
  /** PEM: what programs in the cluster trust. */
  readonly authority: string;
  /** A token without an end, as long as its Secret and account live. */
  readonly issueToken: (subject: TokenSubject) => Promise<string>;
}

/** Each namespace that is not being deleted has the account `default` and the authority's ConfigMap. */
export async function reconcileNamespace(
  client: Client,
  { namespace, authority }: { readonly namespace: KubeObject | undefined; readonly authority: string },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (!namespace || namespace.metadata.deletionTimestamp !== undefined) return done;
  const name = namespace.metadata.name ?? '';
  const [account, configMap] = await Promise.all([
    client.findMetadata(resources.serviceAccounts, { namespace: name, name: 'default' }, signal),
    client.find(resources.configMaps, { namespace: name, name: 'kube-root-ca.crt' }, signal),
  ]);
  const changed = configMap && planAuthority(configMap, authority);
  await Promise.all([
    account ?? make(client.create(resources.serviceAccounts, defaultAccount(name), { signal })),
    configMap ?? make(client.create(resources.configMaps, authorityConfigMap(name, authority), { signal })),
    changed && client.update(resources.configMaps, changed, { signal }),
  ]);
  return done;
}

/** The namespace may have begun to go, or another may have been faster. */
async function make(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    const isExpected =
      StatusError.is(error, 'AlreadyExists') ||
      StatusError.is(error, 'NotFound') ||
      (StatusError.is(error, 'Forbidden') &&
        error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating'));
    if (!isExpected) throw error;
  }
}

/** A token Secret is filled for its account, and goes with it. */
export async function reconcileToken(
  client: Client,
  { key, options }: { readonly key: string; readonly options: ServiceAccountOptions },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const ref = parseKey(key);
  const secret = await client.find(resources.secrets, ref, signal);
  const name = secret?.metadata.annotations?.[accountNameAnnotation];
  if (!secret || !name) return done;
  const account = await client.findMetadata(
    resources.serviceAccounts,
    { namespace: ref.namespace, name },
    signal,
  );
  const { action } = planToken(secret, account, options.authority);
  if (action === 'delete') await deleteSeen(client, secret, signal);
  if (action === 'fill' && account) await fill(client, { secret, account, options }, signal);
  return done;
}

/** Only as it was looked at: it may have been given to another account meanwhile. */
async function deleteSeen(client: Client, secret: KubeObject, signal: AbortSignal): Promise<void> {
  const { uid = '', resourceVersion = '' } = secret.metadata;
  await client.delete(resources.secrets, refOf(secret), { uid, resourceVersion, signal });
}

interface FillInput {
  readonly secret: KubeObject;
  readonly account: KubeObject;
  readonly options: ServiceAccountOptions;
}

async function fill(
  client: Client,
  { secret, account, options }: FillInput,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '' } = secret.metadata;
  const token = await options.issueToken({
    namespace,
    name: account.metadata.name ?? '',
    uid: account.metadata.uid ?? '',
    secretName: name,
  });
  const filled = filledSecret(secret, account, { token, authority: options.authority });
  await client.update(resources.secrets, filled, { signal });
}
