import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '@sheaf/api';
import { parseQuantity, quantityAsNumber } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { at } from '../../e2e/installation.ts';
import { seedName } from '../../e2e/tiny-machines.ts';
import type { Expectation, ExpectedMachine } from './expectation.ts';
import { disksOf } from './machine-disks.ts';

const namespace = 'default';

/** What the API and the host say at one time. */
interface Sight {
  readonly machines: ReadonlyMap<string, KubeObject>;
  readonly instances: ReadonlyMap<string, KubeObject>;
  readonly claims: ReadonlyMap<string, KubeObject>;
  readonly backups: ReadonlyMap<string, KubeObject>;
  readonly contents: readonly KubeObject[];
}

export interface Scene {
  readonly client: Client;
  readonly directory: string;
  readonly expectation: Expectation;
}

/** All in which the world differs from what must be; empty when it has come to rest as it should. */
export async function findings({ client, directory, expectation }: Scene): Promise<readonly string[]> {
  const sight = await look(client);
  return [
    ...differences('machines', sight.machines.keys(), expectation.machines.keys()),
    ...[...expectation.machines].flatMap(([name, machine]) => aboutMachine(name, machine, sight)),
    ...aboutClaims(sight, expectation),
    ...aboutSnapshots(sight, expectation),
    ...(await aboutHost(directory, sight)),
  ];
}

async function look(client: Client): Promise<Sight> {
  const [machines, instances, claims, backups, contents] = await Promise.all([
    client.list(resources.virtualMachines, { namespace }),
    client.list(resources.virtualMachineInstances, { namespace }),
    client.list(resources.persistentVolumeClaims, { namespace }),
    client.list(resources.virtualMachineBackups, { namespace }),
    client.list(resources.volumeSnapshotContents),
  ]);
  return {
    machines: byName(machines.items),
    instances: byName(instances.items),
    claims: byName(claims.items),
    backups: byName(backups.items),
    contents: contents.items,
  };
}

function byName(items: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  return new Map(items.map((item) => [item.metadata.name ?? '', item]));
}

function differences(what: string, found: Iterable<string>, wanted: Iterable<string>): readonly string[] {
  const [there, expected] = [[...found].sort().join(), [...wanted].sort().join()];
  return there === expected ? [] : [`${what}: ${there}, not ${expected}`];
}

function aboutMachine(
  name: string,
  { runs, disks }: ExpectedMachine,
  { machines, instances }: Sight,
): readonly string[] {
  const status = at(machines.get(name), 'status');
  const instance = instances.get(name);
  const shown = [at(status, 'printableStatus'), instance !== undefined, at(status, 'ready')];
  const wanted = runs ? ['Running', true, true] : ['Stopped', false, false];
  const pending = ['stateChangeRequests', 'volumeRequests', 'startFailure'].filter(
    (field) => at(status, field) !== undefined,
  );
  const all = listAt(instance, 'status', 'volumeStatus');
  const plugged = all.filter((volume) => at(volume, 'name') !== seedName);
  const isPlugged = (volume: unknown): boolean =>
    at(volume, 'hotplugVolume') === undefined || at(volume, 'phase') === 'Ready';
  return [
    ...differences(`${name} is`, shown.map(String), wanted.map(String)),
    ...differences(`${name} still has`, pending, []),
    ...differences(`disks of ${name}`, [String(disksOf(machines.get(name)).length)], [String(disks)]),
    ...(runs && !(plugged.length === disks && plugged.every(isPlugged))
      ? [`disks of the instance of ${name}: ${JSON.stringify(plugged)}`]
      : []),
  ];
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Each belongs to one machine, and is as large as was asked for. */
function aboutClaims({ claims, machines }: Sight, { bytes }: Expectation): readonly string[] {
  const used = [...machines.values()].flatMap(disksOf).map((disk) => disk.claim);
  const small = [...claims].flatMap(([name, claim]) => {
    const phase = at(claim, 'status', 'phase');
    const storage = at(claim, 'status', 'capacity', 'storage');
    const capacity = typeof storage === 'string' ? quantityAsNumber(parseQuantity(storage)) : 0;
    const isFine = phase === 'Bound' && capacity >= (bytes.get(name) ?? 1);
    return isFine ? [] : [`claim ${name} is ${String(phase)} with ${capacity} bytes`];
  });
  return [...differences('claims', claims.keys(), used), ...small];
}

function aboutSnapshots({ backups, contents }: Sight, { snapshots }: Expectation): readonly string[] {
  const unready = [...backups].flatMap(([name, backup]) =>
    at(backup, 'status', 'readyToUse') === true
      ? []
      : [`snapshot ${name}: ${JSON.stringify(backup['status'])}`],
  );
  const kept = [...snapshots.values()].reduce((sum, { disks }) => sum + disks, 0);
  return [
    ...differences('snapshots', backups.keys(), snapshots.keys()),
    ...unready,
    ...differences('kept disks', [String(contents.length)], [String(kept)]),
  ];
}

/** No process, directory or record without an object of the API, and none missing. */
async function aboutHost(
  directory: string,
  { instances, claims, contents }: Sight,
): Promise<readonly string[]> {
  const uids = [...instances.values()].map(({ metadata }) => metadata.uid ?? '');
  const machines = join(directory, 'machines', 'machines');
  const records = async (folder: string): Promise<readonly string[]> =>
    (await namesIn(join(directory, 'volumes', folder))).map((name) => name.replace(/\.json$/, ''));
  const claimUids = [...claims.values()].map(({ metadata }) => metadata.uid ?? '');
  return [
    ...differences('processes', await processesIn(machines), uids),
    ...differences('directories of machines', await namesIn(machines), uids),
    ...differences('removed machines', await namesIn(join(directory, 'machines', 'removed')), []),
    ...differences('files of machines', await namesIn(join(directory, 'machine-files')), uids),
    ...differences('volumes', await records('volumes'), claimUids),
    ...differences(
      'kept snapshots',
      [String((await records('snapshots')).length)],
      [String(contents.length)],
    ),
    ...differences('unfinished work', [...(await records('work')), ...(await records('incoming'))], []),
  ];
}

async function namesIn(path: string): Promise<readonly string[]> {
  return readdir(path).catch(() => []);
}

/** The names of the directories in which processes work, once for each process. */
async function processesIn(directory: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(
    pids.map(async (pid) => {
      const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      const isThere = /^\d+ \(.*\) [^ZX]/.test(state);
      return isThere ? readlink(`/proc/${pid}/cwd`).catch(() => '') : '';
    }),
  );
  return places
    .filter((place) => place.startsWith(`${directory}/`))
    .map((place) => place.slice(directory.length + 1));
}
