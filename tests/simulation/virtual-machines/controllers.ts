import type { ApiExtensions } from '@sheaf/api';
import type { Clock, Random } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import { register as registerCustomResource } from '@sheaf/features/custom-resource';
import { extend as extendByDataVolumes, register as registerDataVolume } from '@sheaf/features/data-volume';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { register as registerNamespace } from '@sheaf/features/namespace';
import { extend as extendByMachines, registerInstances, registerMachines } from '@sheaf/features/vm';
import { extend as extendByImages, register as registerImage, UploadDesk } from '@sheaf/features/vm-image';
import { extend as extendByVolumes, register as registerVolume } from '@sheaf/features/volume';
import { extend as extendBySnapshots, register as registerSnapshot } from '@sheaf/features/volume-snapshot';
import type { Manager } from '@sheaf/runtime';
import { isWatched } from './kinds.ts';
import type { Drivers } from './world.ts';

const memoryBytes = 4 * 1024 ** 3;

/** The controllers of one life, as the program binds them, with the drivers of that life. */
export function registerControllers(manager: Manager, drivers: Drivers): void {
  const { hypervisor, volumes, images, memories, files } = drivers;
  registerMachines(manager, {
    volumes,
    abilities: () => ({ canAddSockets: true, canAddMemory: true }),
    forgetPersistent: (machineUid, signal) => hypervisor.forgetPersistent(machineUid, signal),
  });
  registerInstances(manager, {
    hypervisor,
    volumes,
    files,
    memories,
    nodeName: 'node',
    memoryBytes: () => memoryBytes,
    hasBridge: () => true,
  });
  registerVolume(manager, { volumes, images, hypervisor });
  registerSnapshot(manager, { volumes, hypervisor, memories });
  registerDataVolume(manager, { images });
  registerImage(manager, { images, uploads: new UploadDesk({ images, clock: manager.clock }) });
  registerNamespace(manager, { isEmptied: isWatched });
  registerGarbageCollection(manager, { isMonitored: isWatched, concurrency: 4 });
  registerCustomResource(manager);
}

export interface ExtensionParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Those of the life of now. */
  readonly drivers: () => Drivers;
}

/** What the features add to the API of one life of the server. */
export function extendApi(api: ApiExtensions, { client, clock, random, drivers }: ExtensionParts): void {
  const hypervisor = ofNow(() => drivers().hypervisor);
  const images = ofNow(() => drivers().images);
  extendByMachines(api, { client, hypervisor, clock, random });
  extendByVolumes(api, client);
  extendBySnapshots(api, client);
  extendByDataVolumes(api);
  extendByImages(api, { client, clock, images, uploads: new UploadDesk({ images, clock }) });
}

/** A port whose driver is looked up with each use of it. */
function ofNow<T extends object>(current: () => T): T {
  return new Proxy({} as T, { get: (_, property): unknown => Reflect.get(current(), property) });
}
