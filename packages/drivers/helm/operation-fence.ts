import { failureNamed } from './failure-words.ts';
import { HelmError } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';
import { type Account, ApiError, onlyMetadata, readPath, unreadable } from './pod-account.ts';

interface Found {
  readonly metadata: { readonly deletionTimestamp?: string };
}

/**
 * An installation that comes late, when its chart has been taken away or is about to be, would leave a release that nobody knows of.
 * @throws HelmError
 */
export async function checkIsWanted(account: Account, order: OperationOrder): Promise<void> {
  if (order.kind === 'install' && !(await isThere(account, order)))
    throw new HelmError(
      failureNamed('OrderOutdated'),
      `the HelmChart ${order.name} is gone, or is being deleted`,
    );
}

async function isThere(account: Account, { chartNamespace, name }: OperationOrder): Promise<boolean> {
  const path = `/apis/helm.cattle.io/v1/namespaces/${chartNamespace}/helmcharts/${name}`;
  try {
    const { metadata } = JSON.parse(await readPath(account, path, onlyMetadata.one)) as Found;
    return metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return false;
    throw unreadable('its HelmChart', error);
  }
}
