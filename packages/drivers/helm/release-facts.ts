import { gunzipSync } from 'node:zlib';
import { releaseHash, releaseHashLabel } from '@sheaf/ports/helm';
import type { OperationOrder } from './operation-order.ts';
import { type Account, onlyMetadata, readPath, unreadable } from './pod-account.ts';
import type { ReleaseFacts } from './release-plan.ts';
import type { StoredHook } from './unfinished-hooks.ts';

/** One revision, by the labels that Helm writes on its record. */
interface Revision {
  readonly name: string;
  readonly number: number;
  readonly status: string;
  readonly hash: string | undefined;
}

/** What Helm's own records say of a release: asking Helm would be a program for each question. @throws HelmError */
export async function readRelease(account: Account, order: OperationOrder): Promise<ReleaseFacts> {
  try {
    return await factsOf(account, order);
  } catch (error) {
    throw unreadable(`the records of the release ${order.name}`, error);
  }
}

async function factsOf(account: Account, order: OperationOrder): Promise<ReleaseFacts> {
  const revisions = await readRevisions(account, order);
  const newest = revisions.at(-1);
  if (!newest) return { status: undefined, revision: 0, isOfOrder: false, hasDeployed: false, wasCut: false };
  const { status, hash, number: revision } = newest;
  const records = recordsPath(order);
  const isForeign = !revisions.some((each) => each.hash !== undefined);
  return {
    status,
    revision,
    ...(isForeign && { foreignChart: await chartOf(account, records, newest) }),
    isOfOrder: status === 'deployed' && hash === releaseHash(order.configHash),
    hasDeployed: revisions.some((each) => each.status === 'deployed' || each.status === 'superseded'),
    wasCut: status === 'failed' && (await wasCut(account, records, newest)),
  };
}

/** What the newest revision says of its hooks. @throws HelmError */
export async function readHooks(account: Account, order: OperationOrder): Promise<readonly StoredHook[]> {
  try {
    const newest = (await readRevisions(account, order)).at(-1);
    const { hooks = [] } = newest ? await readStored(account, recordsPath(order), newest) : {};
    return hooks;
  } catch (error) {
    throw unreadable(`the hooks of the release ${order.name}`, error);
  }
}

function recordsPath({ driver, targetNamespace }: OperationOrder): string {
  return `/api/v1/namespaces/${targetNamespace}/${driver}s`;
}

interface Records {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  }[];
}

/** The oldest first. */
async function readRevisions(account: Account, order: OperationOrder): Promise<readonly Revision[]> {
  const selector = encodeURIComponent(`owner=helm,name=${order.name}`);
  const path = `${recordsPath(order)}?labelSelector=${selector}`;
  const { items } = JSON.parse(await readPath(account, path, onlyMetadata.list)) as Records;
  return items
    .map(({ metadata: { name, labels = {} } }) => ({
      name,
      number: Number(labels['version']),
      status: labels['status'] ?? 'unknown',
      hash: labels[releaseHashLabel],
    }))
    .toSorted((a, b) => a.number - b.number);
}

interface Stored {
  readonly data?: { readonly release?: string };
}

interface StoredRelease {
  readonly hooks?: readonly StoredHook[];
  readonly info?: { readonly description?: string };
  readonly chart?: { readonly metadata?: { readonly name?: string } };
}

async function wasCut(account: Account, records: string, revision: Revision): Promise<boolean> {
  const { info } = await readStored(account, records, revision);
  return /context canceled/.test(info?.description ?? '');
}

async function chartOf(account: Account, records: string, revision: Revision): Promise<string> {
  const { chart } = await readStored(account, records, revision);
  return chart?.metadata?.name ?? '';
}

async function readStored(account: Account, records: string, { name }: Revision): Promise<StoredRelease> {
  const { data } = JSON.parse(await readPath(account, `${records}/${name}`)) as Stored;
  const stored = data?.release ?? '';
  // A Secret wraps what Helm has written once more.
  const text = records.endsWith('secrets') ? Buffer.from(stored, 'base64').toString('latin1') : stored;
  return JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString('utf8')) as StoredRelease;
}
