import type { OperationOrder } from './operation-order.ts';
import { type Account, ApiError, deletePath, onlyMetadata, readPath, unreadable } from './pod-account.ts';
import { type StoredHook, unfinishedHooks } from './unfinished-hooks.ts';

export interface HookClearing {
  readonly order: OperationOrder;
  /** Of the newest revision. */
  readonly hooks: readonly StoredHook[];
  /** A line of the log. */
  readonly print: (line: string) => void;
}

/**
 * Takes away what hooks that were cut off have left: Helm does not, and one that it may not replace would keep the next installation from
 * its hook. What the server refuses to take away stays, and is told. @throws HelmError if the server does not answer
 */
export async function clearHooks(account: Account, { order, hooks, print }: HookClearing): Promise<void> {
  for (const hook of unfinishedHooks(hooks)) {
    const what = `the hook ${hook.kind} ${hook.name}, which was not awaited to its end,`;
    const words = await clear(account, hook, order).catch((error: unknown) => {
      if (error instanceof ApiError) return `stays: ${error.message}`;
      throw unreadable(`the hook ${hook.name} of the release ${order.name}`, error);
    });
    if (words !== undefined) print(`${what} ${words}`);
  }
}

interface Found {
  readonly metadata: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> };
}

/** What has become of it; `undefined`: it is not there, or somebody else has made what bears its name. */
async function clear(account: Account, hook: StoredHook, order: OperationOrder): Promise<string | undefined> {
  const path = await pathOf(account, hook, order);
  const found = path === undefined ? undefined : await find(account, path);
  if (path === undefined || found?.metadata.annotations?.['helm.sh/hook'] === undefined) return undefined;
  await deletePath(account, path, found.metadata.uid);
  return 'is taken away';
}

async function find(account: Account, path: string): Promise<Found | undefined> {
  try {
    return JSON.parse(await readPath(account, path, onlyMetadata.one)) as Found;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}

interface ServedKinds {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** Where the server has it; `undefined`: it does not serve its kind. */
async function pathOf(
  account: Account,
  { kind, name, manifest = '' }: StoredHook,
  { targetNamespace }: OperationOrder,
): Promise<string | undefined> {
  const { parse } = await import('yaml');
  const object = parse(manifest) as {
    readonly apiVersion: string;
    readonly metadata?: { readonly namespace?: string };
  };
  const { apiVersion, metadata } = object;
  const group = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;
  const { resources } = JSON.parse(await readPath(account, group)) as ServedKinds;
  const served = resources.find((each) => each.kind === kind && !each.name.includes('/'));
  if (!served) return undefined;
  const place = served.namespaced ? `/namespaces/${metadata?.namespace ?? targetNamespace}` : '';
  return `${group}${place}/${served.name}/${name}`;
}
