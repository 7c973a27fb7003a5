import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@sheaf/api';
import { type Client, DiscoveryReader, preferredResources, resources } from '@sheaf/client';
import { runProgram } from '../program.ts';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const chartPath = fileURLToPath(new URL('./keeping-chart', import.meta.url));
const mainPath = fileURLToPath(new URL('../../apps/sheaf/main.ts', import.meta.url));
const name = 'keeping';

it(
  'an add-on that is switched off leaves nothing that `sheaf why` does not list',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(async (host) => {
      const before = new Set((await everything(host.client)).map(idOf));
      await host.helm('package', chartPath, '--destination', join(host.directory, 'charts'));
      await host.make(name, { chart: name });
      await host.change(name, { enabled: true });
      await host.reaches(name, 'AddonDeploySuccessful');
      await host.until('its store runs', async () => {
        const set = await host.client.find(resources.statefulSets, { namespace, name });
        return set?.status?.readyReplicas === 1;
      });
      assert.match(await why(host, `addon/${name}`), /Addon\/keeping in default: is as it should be/);
      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');

      const told = await why(host, `addon/${name}`);
      const left = async (): Promise<readonly KubeObject[]> =>
        (await everything(host.client)).filter((object) => !before.has(idOf(object)));
      let unlisted: readonly string[] = [];
      await host
        .until('all is listed', async () => {
          const all = await left();
          const listed = all.filter((object) => told.includes(placeOf(object)));
          unlisted = all.filter((object) => !listed.includes(object) && !isOf(object, listed)).map(placeOf);
          return unlisted.length === 0;
        })
        .catch((cause: unknown) => {
          throw new Error(`${told} does not tell of ${unlisted.join(', ')}`, { cause });
        });
      assert.deepEqual(objectsIn(told), [
        'Addon/keeping in default: is off, as it should be',
        'ConfigMap/keeping-hook in default: stays on purpose: its chart made it for a moment, and has not said that it may go',
        'ConfigMap/keeping-kept in default: stays on purpose: its chart says that it is kept',
        'CustomResourceDefinition/parts.addons.sheaf.test: stays on purpose: with it all objects of its kind would go; there are none',
        'CustomResourceDefinition/shelves.addons.sheaf.test: stays on purpose: with it all objects of its kind would go; there are none',
        'PersistentVolumeClaim/data-keeping-0 in default: stays on purpose: it holds data, and nobody but you decides about that',
      ]);
      for (const command of told.matchAll(/when nobody needs it: kubectl (.*)$/gm))
        await kubectl(host, (command[1] ?? '').split(' '));
      await host.until('only it is left', async () => (await left()).length === 1);
      assert.equal(
        (await why(host, `addon/${name}`)).trim(),
        'Addon/keeping in default: is off, as it should be',
      );
    }),
);

async function why(host: AddonHost, target: string): Promise<string> {
  const args = [mainPath, 'why', target, '--data-dir', host.directory];
  const { code, out, err } = await runProgram(process.execPath, args, { timeout: 120_000 });
  if (code !== 0) throw new Error(`sheaf why ${target}: ${err}`);
  return out;
}

async function kubectl(host: AddonHost, args: readonly string[]): Promise<void> {
  const env = { KUBECONFIG: join(host.directory, 'kubeconfig') };
  const { code, err } = await runProgram('kubectl', args, { env, timeout: 120_000 });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${err}`);
}

/** Of every kind, but what only tells of others. */
async function everything(client: Client): Promise<readonly KubeObject[]> {
  const served = preferredResources(await new DiscoveryReader(client).read(), ['get', 'list']);
  const lists = await Promise.all(
    served
      .filter(({ plural }) => plural !== 'events' && plural !== 'leases')
      .map(async (resource) => {
        const { items } = await client.list(resource);
        return items.map((item) => ({ ...item, kind: resource.kind }));
      }),
  );
  return lists.flat();
}

function idOf({ metadata }: KubeObject): string {
  return metadata.uid ?? `${metadata.namespace}/${metadata.name}`;
}

function placeOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}${metadata.namespace ? ` in ${metadata.namespace}` : ''}`;
}

/** It goes with one of those: a volume with its claim, what is served with its definition. */
function isOf(object: KubeObject, listed: readonly KubeObject[]): boolean {
  const { claimRef, group } = (object as { readonly spec?: Record<string, unknown> }).spec ?? {};
  const claimUid = (claimRef as { readonly uid?: string } | undefined)?.uid;
  const uids = listed.map(({ metadata }) => metadata.uid);
  if (object.metadata.ownerReferences?.some(({ uid }) => uids.includes(uid))) return true;
  if (object.kind === 'PersistentVolume') return claimUid !== undefined && uids.includes(claimUid);
  return (
    object.kind === 'APIService' &&
    listed.some(({ metadata }) => metadata.name?.endsWith(`.${String(group)}`))
  );
}

function objectsIn(told: string): readonly string[] {
  return told
    .trimEnd()
    .split('\n')
    .filter((line) => !line.includes('way out: '))
    .map((line) => line.replace(/^└─ /, ''))
    .toSorted();
}
