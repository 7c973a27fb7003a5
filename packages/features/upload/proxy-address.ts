import type { KubeObject } from '@sheaf/api';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { done, type ReconcileResult } from '@sheaf/runtime';

/** Where clients find the upload proxy. */
export interface ProxyAddress {
  readonly url: string;
  /** PEM. */
  readonly authority: string;
}

interface CdiConfig extends KubeObject {
  readonly spec?: object;
  readonly status?: { readonly uploadProxyURL?: string; readonly uploadProxyCA?: string };
}

const configs = resources.cdiConfigs as ResourceRef<CdiConfig>;
/** The one that clients look for. */
const name = 'config';

/** Writes the address into CDIConfig `config`, which is made if it is missing; its spec belongs to its users. */
export async function tellAddress(
  client: Client,
  { url, authority }: ProxyAddress,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const found = await client.find(configs, { name }, signal);
  const { status } = found ?? {};
  if (found && status?.uploadProxyURL === url && status.uploadProxyCA === authority) return done;
  const object = { ...(found ?? { metadata: { name }, spec: {} }) };
  const told = { ...object, status: { ...status, uploadProxyURL: url, uploadProxyCA: authority } };
  await (found ? client.update(configs, told, { signal }) : client.create(configs, told, { signal }));
  return done;
}
