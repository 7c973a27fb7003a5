import { basename, resolve } from 'node:path';
import type { Addon } from '@sheaf/api/virtualization/index';
import { type Client, resources } from '@sheaf/client';
import type { ChartWish } from '@sheaf/drivers/bundle';
import { packagedRepository } from '@sheaf/drivers/helm';
import { addonValues } from '@sheaf/features/addon';
import { chartNeed } from '@sheaf/features/helm-chart';
import { UsageError } from '../up-options.ts';

export type Wish = ChartWish;

/** What an add-on would install now. */
export async function addonWish(client: Client, text: string): Promise<Wish> {
  const addon = await findAddon(client, text);
  const { namespace = '', name = '' } = addon.metadata;
  const { repo, chart, version } = addon.spec;
  const values = addonValues(addon);
  if (values === undefined)
    throw new Error(
      `the annotation harvesterhci.io/addon-defaults of ${namespace}/${name} is not base64; correct it`,
    );
  return {
    ...{ name, targetNamespace: namespace, repo, chart, version, content: '', set: [] },
    values: values === '' ? [] : [values],
    purpose: `Addon ${namespace}/${name}`,
  };
}

async function findAddon(client: Client, text: string): Promise<Addon> {
  const [namespace, name] = partsOf(text);
  if (namespace !== undefined) return await client.get(resources.addons, { namespace, name });
  const found = (await client.list(resources.addons)).items.filter(({ metadata }) => metadata.name === name);
  const [first, second] = found;
  if (!first)
    throw new Error(`there is no add-on ${name}; see them with: kubectl get addons --all-namespaces`);
  if (!second) return first;
  const names = found.map(({ metadata }) => `${metadata.namespace}/${name}`);
  throw new UsageError(`there are several add-ons ${name}: name one of ${names.join(', ')}`);
}

/** What a chart of the server would install now. */
export async function chartWish(client: Client, text: string): Promise<Wish> {
  const [namespace = 'default', name] = partsOf(text);
  const chart = await client.get(resources.helmCharts, { namespace, name });
  const config = await client.find(resources.helmChartConfigs, { namespace, name });
  const secrets = await client.list(resources.secrets, { namespace });
  const referred = new Map(secrets.items.map((secret) => [`Secret/${secret.metadata.name}`, secret]));
  return { ...chartNeed({ chart, config, referred }), purpose: `HelmChart ${namespace}/${name}` };
}

export function fileWish(
  file: string,
  { repo = packagedRepository, values }: { readonly repo?: string; readonly values: readonly string[] },
): Wish {
  return {
    ...{ name: 'release', targetNamespace: 'default', repo, chart: '', version: '', content: '', set: [] },
    file: resolve(file),
    values,
    purpose: `chart ${basename(file)}`,
  };
}

/** `[NAMESPACE/]NAME`. */
function partsOf(text: string): readonly [namespace: string | undefined, name: string] {
  const cut = text.indexOf('/');
  return cut < 0 ? [undefined, text] : [text.slice(0, cut), text.slice(cut + 1)];
}
