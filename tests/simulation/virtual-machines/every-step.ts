import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Death } from '../stage.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { claimOf } from './machine-objects.ts';
import { MachineStage } from './stage.ts';

/** Something that users ask for, and what is true when it is done. */
interface Act {
  readonly name: string;
  readonly ask: (client: Client) => Promise<unknown>;
  readonly isDone: (stage: MachineStage) => boolean;
}

const namespace = 'red';
const machinePath = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachines/a`;
const longhorn = { storageClassName: 'longhorn', mebibytes: 1 };
const deaths: readonly Death[] = ['controllers', 'server', 'host'];

/** The life of a machine and of its volumes. */
const acts: readonly Act[] = [
  {
    name: 'create',
    async ask(client) {
      for (const name of ['disk', 'data'])
        await client.create(resources.persistentVolumeClaims, claimOf({ namespace, name }, longhorn));
      await client.create(resources.virtualMachines, machine as never);
    },
    isDone: (stage) => isRunning(stage),
  },
  {
    name: 'hot-plug',
    ask: (client) =>
      put(client, 'addvolume', {
        name: 'plugged',
        disk: { disk: { bus: 'scsi' } },
        volumeSource: { persistentVolumeClaim: { claimName: 'data', hotpluggable: true } },
      }),
    isDone: (stage) => disksOf(stage).includes('plugged'),
  },
  {
    name: 'snapshot',
    ask: (client) =>
      client.create(resources.volumeSnapshots, {
        metadata: { namespace, name: 'now' },
        spec: {
          source: { persistentVolumeClaimName: 'disk' },
          volumeSnapshotClassName: 'longhorn-snapshot',
        },
      }),
    isDone: ({ objects }) => objects.all(resources.volumeSnapshots)[0]?.status?.readyToUse === true,
  },
  {
    name: 'clone',
    ask: (client) => {
      const dataSource = { kind: 'VolumeSnapshot', name: 'now', apiGroup: 'snapshot.storage.k8s.io' };
      const clone = claimOf({ namespace, name: 'clone' }, { ...longhorn, dataSource });
      return client.create(resources.persistentVolumeClaims, clone);
    },
    isDone: (stage) => claimNamed(stage, 'clone')?.status?.phase === 'Bound',
  },
  {
    name: 'resize',
    ask: (client) =>
      client.patch(
        resources.persistentVolumeClaims,
        { namespace, name: 'disk' },
        { type: 'merge', body: { spec: { resources: { requests: { storage: '2Mi' } } } } },
      ),
    isDone: (stage) => claimNamed(stage, 'disk')?.status?.capacity?.['storage'] === '2Mi',
  },
  {
    name: 'unplug',
    ask: (client) => put(client, 'removevolume', { name: 'plugged' }),
    isDone: (stage) => !disksOf(stage).includes('plugged'),
  },
  {
    name: 'stop',
    ask: (client) => put(client, 'stop', {}),
    isDone: ({ objects, world }) =>
      objects.all(resources.virtualMachineInstances).length === 0 && world.host.machines.size === 0,
  },
  { name: 'start', ask: (client) => put(client, 'start', {}), isDone: (stage) => isRunning(stage) },
];

const machine: KubeObject = {
  metadata: { namespace, name: 'a' },
  spec: {
    runStrategy: 'RerunOnFailure',
    template: {
      spec: {
        domain: {
          cpu: { cores: 1 },
          memory: { guest: '64Mi' },
          devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] },
        },
        terminationGracePeriodSeconds: 5,
        volumes: [
          { name: 'root', persistentVolumeClaim: { claimName: 'disk' } },
          { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config' } },
        ],
      },
    },
  },
};

/**
 * The life of one machine and its volumes, in which the program is killed once: seeds 1 to 3 are the three deaths at its first step,
 * 4 to 6 those at the second, and so on; beyond its last step it is not killed.
 */
export async function runKilled(options: ScheduleOptions): Promise<Outcome> {
  const { seed } = options;
  // The choices are always the same, so that each step is one of the same life.
  const stage = new MachineStage({ ...options, seed: 1 });
  try {
    await stage.start();
    const killer = new Killer(stage, {
      step: stage.simulation.scheduler.count + Math.ceil(seed / deaths.length),
      death: deaths[seed % deaths.length] ?? 'server',
    });
    for (const act of acts) await killer.play(act);
    await stage.converge();
    await stage.clear(() => killer.killIfDue());
    return { ...stage.outcome(), seed };
  } finally {
    await stage.simulation.stop();
  }
}

class Killer {
  readonly #stage: MachineStage;
  readonly #step: number;
  readonly #death: Death;
  #hasKilled = false;

  constructor(stage: MachineStage, { step, death }: { readonly step: number; readonly death: Death }) {
    this.#stage = stage;
    this.#step = step;
    this.#death = death;
  }

  async play({ name, ask, isDone }: Act): Promise<void> {
    const stage = this.#stage;
    const { scheduler } = stage.simulation;
    if (!stage.isGood) return;
    scheduler.note(`user: ${name}`);
    stage.world.guests.write();
    const asked = ask(stage.simulation.server.client);
    await stage.settle();
    await asked;
    await stage.converge(
      () => {
        stage.world.guests.write();
        return isDone(stage) ? [] : [`"${name}" is not done`];
      },
      () => this.killIfDue(),
    );
  }

  /** Between two steps. */
  async killIfDue(): Promise<void> {
    if (this.#hasKilled || this.#stage.simulation.scheduler.count < this.#step) return;
    this.#hasKilled = true;
    await this.#stage.die(this.#death);
  }
}

async function put(client: Client, request: string, body: JsonObject): Promise<void> {
  const { status } = await client.send({
    method: 'PUT',
    target: `${machinePath}/${request}`,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  if (status !== 202) throw new Error(`"${request}" is answered with ${status}`);
}

function isRunning({ objects, world }: MachineStage): boolean {
  const [instance] = objects.all(resources.virtualMachineInstances);
  const process = world.host.machines.get(instance?.metadata.uid ?? '')?.process;
  return instance?.status?.phase === 'Running' && process?.guest.isRunning === true;
}

function disksOf({ world }: MachineStage): readonly string[] {
  return [...world.host.machines.values()].flatMap(({ process }) => [...(process?.disks.keys() ?? [])]);
}

function claimNamed({ objects }: MachineStage, name: string) {
  return objects.all(resources.persistentVolumeClaims).find(({ metadata }) => metadata.name === name);
}
