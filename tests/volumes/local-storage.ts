import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { ensureStorage, extend as extendVolumes, register as registerVolumes } from '@sheaf/features/volume';
import {
  ensureSnapshotClasses,
  extend as extendSnapshots,
  register as registerSnapshots,
} from '@sheaf/features/volume-snapshot';
import type { Hypervisor } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { startTestServer } from '@sheaf/testkit';
import {
  type LocalBench,
  until,
  withLocalDisk,
} from '../../packages/drivers/local-disk/local-disk.fixture.ts';
import { installStorageKinds } from './storage-kinds.ts';

type Machines = Pick<Hypervisor, 'list' | 'resizeDisk' | 'switchDisks' | 'saveMemory' | 'askAgent'>;

export const noMachines: Machines = {
  askAgent: () => Promise.reject(new Error('there are no machines')),
  list: () => Promise.resolve([]),
  resizeDisk: () => Promise.reject(new Error('there are no machines')),
  saveMemory: () => Promise.reject(new Error('there are no machines')),
  switchDisks: () => Promise.reject(new Error('there are no machines')),
};

/** The controllers and drivers, which may end wherever they are, and begin again. */
export interface Lives {
  end(): Promise<void>;
  begin(hypervisor: Machines): void;
}

/** The features over the real driver of volumes. */
export async function withLocalStorage(
  hypervisor: Machines,
  use: (client: Client, bench: LocalBench, lives: Lives) => Promise<void>,
): Promise<void> {
  await withLocalDisk(async (bench) => {
    const server = await startTestServer({
      clock: systemClock,
      extend: (api, client) => {
        extendVolumes(api, client);
        extendSnapshots(api, client);
      },
    });
    const { client } = server;
    let manager: Manager | undefined;
    const lives: Lives = {
      async end() {
        await manager?.stop();
        manager = undefined;
        await bench.restart();
      },
      begin(machines) {
        manager = new Manager({ client, clock: systemClock, random: systemRandom, logger: silentLogger });
        const { volumes, images } = bench;
        registerVolumes(manager, { volumes, images, hypervisor: machines });
        registerSnapshots(manager, { volumes, hypervisor: machines, memories: bench.disk.memories });
        void manager.start();
      },
    };
    try {
      await client.create(resources.namespaces, { metadata: { name: 'default' } });
      await installStorageKinds(client, (claim) => until(claim));
      await ensureStorage(client);
      await ensureSnapshotClasses(client);
      lives.begin(hypervisor);
      await use(client, bench, lives);
    } finally {
      await manager?.stop();
      await server.close();
    }
  });
}
