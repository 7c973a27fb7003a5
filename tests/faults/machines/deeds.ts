import { StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import type { SeededRandom } from '@sheaf/testkit/seeded-random';
import { eventually } from '../../e2e/installation.ts';
import { type TinyImage, tinyMachine } from '../../e2e/tiny-machines.ts';
import type { Expectation } from './expectation.ts';
import { disksOf, removalPath } from './machine-disks.ts';

const namespace = 'default';
const subresources = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
const actions = `/v1/harvester/kubevirt.io.virtualmachines/${namespace}`;

/** Something that a user does. It may be begun again where nobody knows whether it came through. */
export interface Deed {
  readonly kind: DeedKind;
  /** What it is done to. */
  readonly subject: string;
  begin(client: Client): Promise<void>;
  /** What is true once it is done. */
  apply(expectation: Expectation): void;
}

/** In the order in which they take turns; the first six are those of the short run. */
export const deedKinds = [
  'create',
  'stop',
  'clone',
  'plug',
  'snapshot',
  'delete',
  'resize',
  'start',
  'unplug',
  'drop-snapshot',
] as const;
export type DeedKind = (typeof deedKinds)[number];

export interface DeedWorld {
  readonly expectation: Expectation;
  readonly image: TinyImage;
  readonly random: SeededRandom;
  /** Another for each deed. */
  readonly number: number;
}

type Maker = (world: DeedWorld) => Deed | undefined;

const makers: Readonly<Record<DeedKind, Maker>> = {
  create,
  stop: ({ expectation, random }) => {
    const name = pick(
      expectation.namesOf(({ runs }) => runs),
      random,
    );
    return name === undefined ? undefined : power('stop', name);
  },
  start: ({ expectation, random }) => {
    const name = pick(
      expectation.namesOf(({ runs }) => !runs),
      random,
    );
    return name === undefined ? undefined : power('start', name);
  },
  clone,
  plug,
  unplug,
  snapshot,
  'drop-snapshot': dropSnapshot,
  resize,
  delete: remove,
};

/** `undefined` where there is nothing that it could be done to. */
export function makeDeed(kind: DeedKind, world: DeedWorld): Deed | undefined {
  return makers[kind](world);
}

function pick<T>(items: readonly T[], random: SeededRandom): T | undefined {
  return items[random.integer(Math.max(1, items.length))];
}

/** Passes over the answers that say that it has been done before. */
async function once(done: Promise<unknown>): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists') && !StatusError.is(error, 'NotFound')) throw error;
  }
}

async function send(client: Client, method: string, target: string, body: object = {}): Promise<void> {
  const request = method === 'DELETE' ? {} : { body: JSON.stringify(body) };
  const answer = await client.send({ method, target, ...request });
  // A conflict says that it is so already, or under way.
  const isFine = answer.status < 400 || answer.status === 409 || answer.status === 404;
  if (!isFine) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
}

function create({ image, number, random }: DeedWorld): Deed {
  const subject = `m${number}`;
  const runStrategy = random.integer(2) === 0 ? 'RerunOnFailure' : 'Manual';
  return {
    kind: 'create',
    subject,
    async begin(client) {
      const machine = tinyMachine(image, { name: subject, runStrategy, hasSeed: true });
      await once(client.create(resources.virtualMachines, machine));
      if (runStrategy === 'Manual') await send(client, 'PUT', `${subresources}/${subject}/start`);
    },
    apply: ({ machines }) => machines.set(subject, { runs: true, disks: 1, boots: 1 }),
  };
}

function power(verb: 'start' | 'stop', subject: string): Deed {
  return {
    kind: verb,
    subject,
    begin: (client) => send(client, 'PUT', `${subresources}/${subject}/${verb}`),
    apply: (expectation) =>
      expectation.change(subject, (machine) => ({
        ...machine,
        runs: verb === 'start',
        boots: machine.boots + (verb === 'start' ? 1 : 0),
      })),
  };
}

function clone({ expectation, random, number }: DeedWorld): Deed | undefined {
  const source = pick(
    expectation.namesOf(({ runs }) => !runs),
    random,
  );
  const original = source === undefined ? undefined : expectation.machines.get(source);
  if (source === undefined || !original) return undefined;
  const subject = `m${number}`;
  return {
    kind: 'clone',
    subject,
    async begin(client) {
      if (await client.find(resources.virtualMachines, { namespace, name: subject })) return;
      const body = { targetVm: subject, runStrategy: 'RerunOnFailure' };
      await send(client, 'POST', `${actions}/${source}?action=clone`, body);
    },
    apply: ({ machines }) =>
      machines.set(subject, {
        diskOf: source,
        ...original,
        runs: true,
        boots: original.boots + 1,
      }),
  };
}

function plug({ expectation, random, number }: DeedWorld): Deed | undefined {
  const subject = pick(
    expectation.namesOf(({ runs, disks }) => runs && disks < 3),
    random,
  );
  if (subject === undefined) return undefined;
  const name = `extra${number}`;
  const claim = {
    metadata: { namespace, name },
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      resources: { requests: { storage: '4Mi' } },
    },
  };
  const volume = {
    name,
    disk: { disk: { bus: 'scsi' } },
    volumeSource: { persistentVolumeClaim: { claimName: name, hotpluggable: true } },
  };
  return {
    kind: 'plug',
    subject,
    async begin(client) {
      await once(client.create(resources.persistentVolumeClaims, claim));
      await send(client, 'PUT', `${subresources}/${subject}/addvolume`, volume);
    },
    apply: (it) => it.change(subject, (machine) => ({ ...machine, disks: machine.disks + 1 })),
  };
}

function unplug({ expectation, random }: DeedWorld): Deed | undefined {
  const subject = pick(
    expectation.namesOf(({ runs, disks }) => runs && disks > 1),
    random,
  );
  if (subject === undefined) return undefined;
  const disks = expectation.machines.get(subject)?.disks;
  return {
    kind: 'unplug',
    subject,
    async begin(client) {
      const found = await client.get(resources.virtualMachines, { namespace, name: subject });
      const there = disksOf(found);
      const last = there.at(-1)?.name ?? '';
      // Where there is one less it has gone already.
      if (there.length < (disks ?? 0)) return removeUnused(client);
      await send(client, 'PUT', `${subresources}/${subject}/removevolume`, { name: last });
      await untilUnplugged(client, subject, last);
      await removeUnused(client);
    },
    apply: (it) => it.change(subject, (machine) => ({ ...machine, disks: machine.disks - 1 })),
  };
}

function untilUnplugged(client: Client, name: string, volume: string): Promise<void> {
  return eventually(
    async () => {
      const machine = await client.get(resources.virtualMachines, { namespace, name });
      return disksOf(machine).every((disk) => disk.name !== volume);
    },
    { goal: `${volume} is no part of ${name} any more` },
  );
}

/** A volume that was unplugged stays; its user deletes the claim, once no instance has it any more. */
async function removeUnused(client: Client): Promise<void> {
  const usedBy = async (resource: ResourceRef): Promise<readonly string[]> => {
    const { items } = await client.list(resource, { namespace });
    return items.flatMap(disksOf).map(({ claim }) => claim);
  };
  let wanted: readonly string[] = [];
  await eventually(
    async () => {
      const held = await usedBy(resources.virtualMachineInstances);
      wanted = await usedBy(resources.virtualMachines);
      return held.every((claim) => wanted.includes(claim));
    },
    { goal: 'the volume is free' },
  );
  const { items } = await client.list(resources.persistentVolumeClaims, { namespace });
  for (const { metadata } of items) {
    const { name = '' } = metadata;
    const isUnused = !wanted.includes(name);
    if (isUnused) await once(client.delete(resources.persistentVolumeClaims, { namespace, name }));
  }
}

function snapshot({ expectation, random, number }: DeedWorld): Deed | undefined {
  const machine = pick([...expectation.machines.keys()], random);
  if (machine === undefined) return undefined;
  const subject = `s${number}`;
  const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: machine };
  return {
    kind: 'snapshot',
    subject,
    begin: (client) =>
      once(
        client.create(resources.virtualMachineBackups, {
          metadata: { namespace, name: subject },
          spec: { source, type: 'snapshot' },
        }),
      ),
    apply: ({ snapshots, machines }) =>
      snapshots.set(subject, { machine, disks: machines.get(machine)?.disks ?? 0 }),
  };
}

function dropSnapshot({ expectation, random }: DeedWorld): Deed | undefined {
  const subject = pick([...expectation.snapshots.keys()], random);
  if (subject === undefined) return undefined;
  return {
    kind: 'drop-snapshot',
    subject,
    begin: (client) => once(client.delete(resources.virtualMachineBackups, { namespace, name: subject })),
    apply: ({ snapshots }) => snapshots.delete(subject),
  };
}

function resize({ expectation, random, number }: DeedWorld): Deed | undefined {
  const subject = pick([...expectation.machines.keys()], random);
  if (subject === undefined) return undefined;
  // Each time more than ever before: volumes do not shrink.
  const mebibytes = 8 + number;
  let name = '';
  return {
    kind: 'resize',
    subject,
    async begin(client) {
      const machine = await client.get(resources.virtualMachines, { namespace, name: subject });
      name = disksOf(machine)[0]?.claim ?? '';
      const body = { spec: { resources: { requests: { storage: `${mebibytes}Mi` } } } };
      await client.patch(resources.persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
    },
    apply: (it) => it.bytes.set(name, mebibytes * 1024 * 1024),
  };
}

function remove({ expectation, random }: DeedWorld): Deed | undefined {
  // One with a snapshot is kept for it.
  const free = [...expectation.machines.keys()].filter((name) => !expectation.hasSnapshot(name));
  const subject = expectation.machines.size > 2 ? pick(free, random) : undefined;
  if (subject === undefined) return undefined;
  return {
    kind: 'delete',
    subject,
    async begin(client) {
      const found = await client.find(resources.virtualMachines, { namespace, name: subject });
      if (!found || found.metadata.deletionTimestamp !== undefined) return;
      await send(client, 'DELETE', removalPath(found));
    },
    apply: ({ machines }) => machines.delete(subject),
  };
}
