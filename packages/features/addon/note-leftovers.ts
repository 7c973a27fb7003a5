import type { KubeObject } from '@sheaf/api';
import { leftoversAnnotation, leftoversText, longestChartName, readLeftovers } from '@sheaf/api/addon/index';
import type { Addon, HelmChart } from '@sheaf/api/virtualization/index';
import { type Client, resources } from '@sheaf/client';
import type { EventRecorder } from '@sheaf/runtime';
import { definitionsOf, leftoversOf } from './leftovers.ts';
import { type ReleaseRecord, readRelease } from './release-record.ts';

/**
 * Writes on the add-on what may stay of its chart, before that is taken away: afterwards nobody can tell any more. What it says already
 * stays, for an earlier release may have left it.
 */
export async function noteLeftovers(
  { client, recorder }: { readonly client: Client; readonly recorder: EventRecorder },
  { addon, chart }: { readonly addon: Addon; readonly chart: HelmChart },
  signal: AbortSignal,
): Promise<void> {
  const { items: claims } = await client.list(resources.persistentVolumeClaims, { signal });
  const { items: statefulSets } = await client.list(resources.statefulSets, { signal });
  const releases = (await storedReleases(client, chart, signal)).flatMap((stored) => {
    const release = readable(stored);
    if (release === undefined) tellUnreadable(recorder, addon);
    return release ?? [];
  });
  await write(client, { addon, found: leftoversOf({ chart, releases, claims, statefulSets }) }, signal);
}

/** Definitions are told by the operation that brought them, and only while that is the last one. */
export async function noteDefinitions(
  client: Client,
  { addon, chart }: { readonly addon: Addon; readonly chart: HelmChart },
  signal: AbortSignal,
): Promise<void> {
  await write(client, { addon, found: definitionsOf(chart) }, signal);
}

/** One that cannot be read keeps nobody from taking the chart away. */
function readable(stored: string): ReleaseRecord | undefined {
  try {
    return readRelease(stored);
  } catch {
    return undefined;
  }
}

function tellUnreadable(recorder: EventRecorder, { metadata }: Addon): void {
  const { namespace = '', name = '', uid = '' } = metadata;
  recorder.record({
    about: { resource: resources.addons, namespace, name, uid },
    type: 'Warning',
    reason: 'LeftoversUnknown',
    message: `The release of ${name} cannot be read, so it is not known what stays of it: see helm get all ${name}`,
  });
}

async function write(
  client: Client,
  { addon, found }: { readonly addon: Addon; readonly found: ReturnType<typeof leftoversOf> },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid, annotations } = addon.metadata;
  const before = annotations?.[leftoversAnnotation];
  const text = leftoversText([...(readLeftovers(addon) ?? []), ...found]);
  if (text === (before ?? '[]')) return;
  const body = { metadata: { uid, annotations: { [leftoversAnnotation]: text } } };
  await client.patch(resources.addons, { namespace, name }, { type: 'merge', body, signal });
}

/** Each revision is an object of its own, of the kind that `driver` names. */
async function storedReleases(
  client: Client,
  { metadata, spec }: HelmChart,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Made before such names were refused: it has no release, and a label cannot be asked for it.
  if ((metadata.name ?? '').length > longestChartName) return [];
  const query = {
    namespace: spec?.targetNamespace || (metadata.namespace ?? ''),
    labelSelector: `owner=helm,name=${metadata.name}`,
    signal,
  };
  const isPlain = spec?.driver === 'configmap';
  const { items } = await client.list(isPlain ? resources.configMaps : resources.secrets, query);
  return items.flatMap((item: KubeObject) => {
    const data = (item['data'] ?? {}) as Readonly<Record<string, string>>;
    const stored = data['release'];
    if (stored === undefined) return [];
    return [isPlain ? stored : Buffer.from(stored, 'base64').toString('utf8')];
  });
}
