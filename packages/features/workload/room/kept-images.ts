import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import type { ContainerImage } from '@sheaf/ports';

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

const configMaps: ResourceRef<ConfigMap> = resources.configMaps;
/** Images that somebody has imported, by their ids: no registry may have them. Whoever takes a line out gives the image free. */
const place = { namespace: 'kube-system', name: 'imported-images' };

/** What has been imported is not collected. */
export async function keepImages(
  client: Client,
  images: readonly ContainerImage[],
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(images.map((image) => [keyOf(image.id), nameOf(image)]));
  try {
    await client.patch(configMaps, place, { type: 'merge', body: { data }, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
    await client.create(configMaps, { metadata: place, data }, { signal });
  }
}

/** They are gone; nothing is left to keep. */
export async function releaseImage(client: Client, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.patch(configMaps, place, { type: 'merge', body: { data: { [keyOf(id)]: null } }, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

export async function keptImageIds(client: Client, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const found = await client.find(configMaps, place, signal);
  return new Set(Object.keys(found?.data ?? {}).map((key) => `sha256:${key}`));
}

/** Keys may have no colon. */
function keyOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

function nameOf({ tags, digests }: ContainerImage): string {
  return tags[0] ?? digests[0] ?? '';
}
