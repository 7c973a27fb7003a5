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
  const loaded = await bundle(host, 'load', join(directory, 'one.bundle'));
  const used = await useBundle(host, source);
  const tries = await triedNetwork();
  const missing = await missOne(host);
  const triesWithout = await triedNetwork();
  await bundle(host, 'load', join(directory, 'two.bundle'));
  await host.reaches('fourth', 'AddonDeploySuccessful');
  const removed = await bundle(host, 'rm', /^bundle (\w+)/.exec(loaded[0] ?? '')?.[1] ?? '');
  const left = (await bundle(host, 'ls')).length - 1;
  return { loaded, ...used, tries, missing, areTriesSeen: triesWithout > tries, removed, left };
}

/** The lines of `sheaf bundle …`. */
async function bundle(host: AddonHost, ...args: readonly string[]): Promise<readonly string[]> {
  return (await sheafCommand(['bundle', ...args, '--data-dir', host.directory])).trimEnd().split('\n');
}

/** Its add-ons are switched on and off; while they are on, a bundle is made of what the host has. */
async function useBundle(host: AddonHost, source: OfflineSource): Promise<object> {
  const repos = { first: packagedRepository, second: source.httpRepository, third: ociRepository };
  const valuesContent = source.thirdValues;
  for (const name of names)
    await host.make(name, { chart: name, repo: repos[name], ...(name === 'third' && { valuesContent }) });
  for (const name of names) await host.change(name, { enabled: true });
  for (const name of names) await host.reaches(name, 'AddonDeploySuccessful');
  for (const name of names)
    await host.until(`${name} serves`, async () => (await host.page(name)) === 'it works\n');
  const releases = (await host.releases()).toSorted();
  const own = join(directory, 'own.bundle');
  await bundle(host, 'create', own, '--addon', 'first', '--addon', 'default/third', '--without-helm');
  const shown = await bundle(host, 'show', own);
  for (const name of names) await host.change(name, { enabled: false });
  for (const name of names) await host.reaches(name, 'AddonDisabled');
  return { releases, shown };
}

/** What an add-on says whose bundle is not there. */
async function missOne(host: AddonHost): Promise<string> {
  await host.make('fourth', { chart: 'fourth', enabled: true });
  await host.until('the missing chart is told', async () =>
    (await progressOf(host, 'fourth')).includes('ContentMissing'),
  );
  return progressOf(host, 'fourth');
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
