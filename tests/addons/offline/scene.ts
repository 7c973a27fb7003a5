/**
 * What happens on a host without a network, told as JSON in the last line: `node scene.ts DIRECTORY`, with the bundles `one.bundle` and
 * `two.bundle` in it.
 */
import { join } from 'node:path';
import { packagedRepository } from '@sheaf/drivers/helm';
import { sheafCommand } from '../../sheaf-command.ts';
import { AddonHost } from '../addon-host.ts';
import { triedNetwork } from './lonely-host.ts';
import { type OfflineSource, ociRepository, readSource } from './source.ts';

const [directory = ''] = process.argv.slice(2);
const names = ['first', 'second', 'third'] as const;

async function tell(host: AddonHost, source: OfflineSource): Promise<unknown> {
  const { load, list } = commandsOf(host);
  const loaded = await load('one.bundle');
  const again = await load('one.bundle');
  const listed = await list();
  const repos = { first: packagedRepository, second: source.httpRepository, third: ociRepository };
  const valuesContent = source.thirdValues;
  for (const name of names)
    await host.make(name, { chart: name, repo: repos[name], ...(name === 'third' && { valuesContent }) });
  for (const name of names) await host.change(name, { enabled: true });
  for (const name of names) await host.reaches(name, 'AddonDeploySuccessful');
  for (const name of names)
    await host.until(`${name} serves`, async () => (await host.page(name)) === 'it works\n');
  const releases = (await host.releases()).toSorted();
  for (const name of names) await host.change(name, { enabled: false });
  for (const name of names) await host.reaches(name, 'AddonDisabled');
  const tries = await triedNetwork();

  await host.make('fourth', { chart: 'fourth', enabled: true });
  await host.until('the missing chart is told', async () =>
    (await progressOf(host, 'fourth')).includes('ContentMissing'),
  );
  const missing = await progressOf(host, 'fourth');
  const triesWithout = await triedNetwork();
  await load('two.bundle');
  await host.reaches('fourth', 'AddonDeploySuccessful');
  const isLoadedAgain = again.filter((line) => line.endsWith('is there already')).length === names.length;
  return { loaded, isLoadedAgain, listed, releases, tries, missing, areTriesSeen: triesWithout > tries };
}

interface BundleCommands {
  load(name: string): Promise<readonly string[]>;
  list(): Promise<number>;
}

function commandsOf(host: AddonHost): BundleCommands {
  const sheaf = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await sheafCommand(['bundle', ...args, '--data-dir', host.directory])).trimEnd().split('\n');
  return {
    load: (name) => sheaf('load', join(directory, name)),
    list: async () => (await sheaf('ls')).length - 1,
  };
}

async function progressOf(host: AddonHost, name: string): Promise<string> {
  const { status } = await host.addon(name);
  const progress = status?.conditions?.find(({ type }) => type === 'InProgress');
  return `${progress?.reason ?? ''}: ${progress?.message ?? ''}`;
}

const source = await readSource(directory);
let told: unknown;
await AddonHost.run(
  async (host) => {
    told = await tell(host, source);
  },
  { isBare: true },
);
process.stdout.write(`${JSON.stringify(told)}\n`);
