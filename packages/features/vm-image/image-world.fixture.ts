import type { VirtualMachineImage, VirtualMachineImageSpec } from '@sheaf/api/virtualization/index';
import { StatusError, silentLogger } from '@sheaf/base';
import { type Client, type ClientResponse, resources, type Transport } from '@sheaf/client';
import type { Images } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import {
  SeededRandom,
  serveKinds,
  settle,
  startTestServer,
  TestClock,
  type TestServer,
} from '@sheaf/testkit';
import {
  noDiskFaults,
  openSimulatedDisk,
  type SimulatedDiskFaults,
  SimulatedMedium,
  SimulatedSources,
} from '@sheaf/testkit/volumes/index';
import { extend, register, UploadDesk } from './register.ts';

export const servedKinds = [
  'virtualmachineimages.harvesterhci.io',
  'virtualmachinetemplateversions.harvesterhci.io',
  'virtualmachinebackups.harvesterhci.io',
  'settings.harvesterhci.io',
  'virtualmachineinstances.kubevirt.io',
  'volumesnapshots.snapshot.storage.k8s.io',
  'volumesnapshotcontents.snapshot.storage.k8s.io',
];
export const mebibyte = 1024 * 1024;
const place = '/v1/harvester/harvesterhci.io.virtualmachineimages/default';

/** The driver of now, whatever life of it that is. */
export function currentImages(current: () => Images): Images {
  return {
    list: (signal) => current().list(signal),
    find: (id, signal) => current().find(id, signal),
    onChange: (listener) => current().onChange(listener),
    request: (order, signal) => current().request(order, signal),
    receive: (id, part, signal) => current().receive(id, part, signal),
    read: (id, signal) => current().read(id, signal),
    remove: (id, signal) => current().remove(id, signal),
  };
}

export interface ImageWorld {
  readonly client: Client;
  readonly server: TestServer;
  readonly clock: TestClock;
  readonly medium: SimulatedMedium;
  readonly sources: SimulatedSources;
  create(
    name: string,
    spec: Partial<VirtualMachineImageSpec>,
    annotations?: Annotations,
  ): Promise<VirtualMachineImage>;
  get(name: string): Promise<VirtualMachineImage>;
  /** Lets time pass until an image says so. */
  until(name: string, claim: (image: VirtualMachineImage) => boolean): Promise<VirtualMachineImage>;
  eventually(claim: () => Promise<boolean>): Promise<void>;
  upload(name: string, query: string, body: UploadBody): Promise<ClientResponse>;
  /** The controllers end. */
  stop(): Promise<void>;
  /** Driver and controllers end where they are and begin again on the same medium. */
  restart(): Promise<void>;
}

type Annotations = Readonly<Record<string, string>>;

export interface UploadBody {
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** What goes wrong until the first restart. */
export interface FirstLife {
  readonly faults?: SimulatedDiskFaults;
  /** The controllers' way to the server. */
  readonly through?: (send: Transport['send']) => Transport['send'];
}

/** A server with images on a simulated medium, on a clock of its own. */
export async function withImages(
  run: (world: ImageWorld) => Promise<void>,
  { faults = noDiskFaults, through = (send) => send }: FirstLife = {},
): Promise<void> {
  const clock = new TestClock();
  const medium = new SimulatedMedium();
  const sources = new SimulatedSources();
  const random = new SeededRandom(7);
  const openDisk = (its: SimulatedDiskFaults) =>
    openSimulatedDisk({ medium, sources, clock, random, faults: its });
  let disk = openDisk(faults);
  const images = currentImages(() => disk.images);
  const options = { images, uploads: new UploadDesk({ images, clock }), maxBytes: 4 * mebibyte };
  const server = await startTestServer({
    clock,
    extend: (api, client) => extend(api, { ...options, client, clock }),
  });
  const { client } = server;
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await serveKinds(client, clock, servedKinds);
  const startManager = (its: Client): Manager => {
    const manager = new Manager({ client: its, clock, random, logger: silentLogger });
    register(manager, options);
    void manager.start();
    return manager;
  };
  let manager = startManager(server.clientThrough(through((request) => server.transport.send(request))));
  const eventually = (until: () => Promise<boolean>): Promise<void> =>
    settle({ clock, until, limitMs: 600_000 });
  const get = (name: string): Promise<VirtualMachineImage> =>
    client.get(resources.virtualMachineImages, { namespace: 'default', name });
  try {
    await run({
      client,
      server,
      clock,
      medium,
      sources,
      get,
      eventually,
      create: (name, spec, annotations = {}) =>
        client.create(resources.virtualMachineImages, {
          metadata: { namespace: 'default', name, annotations: { ...annotations } },
          spec: { displayName: name, sourceType: 'download', ...spec },
        }),
      async until(name, claim) {
        await eventually(async () => claim(await get(name)));
        return get(name);
      },
      upload: (name, query, { contentType, bytes }) =>
        client.send({
          method: 'POST',
          target: `${place}/${name}?action=upload&${query}`,
          headers: { 'content-type': contentType },
          upload: bytes,
        }),
      stop: () => manager.stop(),
      async restart() {
        disk.crash();
        await manager.stop();
        disk = openDisk(noDiskFaults);
        manager = startManager(client);
      },
    });
  } finally {
    await manager.stop();
    await server.close();
  }
}

/** What a write was refused with, or `allowed`. */
export async function refusal(write: Promise<unknown>): Promise<string> {
  try {
    await write;
  } catch (error) {
    if (StatusError.is(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'allowed';
}

/** A raw disk of cells of 64 KiB. */
export function rawDisk(...cells: readonly number[]): Buffer {
  return Buffer.concat(cells.map((value) => Buffer.alloc(64 * 1024, value)));
}

/** Pieces of 64 KiB; after `breaksAfter` of them the sender is gone. */
export async function* inPieces(
  bytes: Uint8Array,
  breaksAfter = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  const step = 64 * 1024;
  for (let piece = 0; piece * step < bytes.length; piece++) {
    if (piece === breaksAfter) throw new Error('the sender is gone');
    yield bytes.subarray(piece * step, (piece + 1) * step);
  }
}

/** As browsers and curl -F send a file. */
export function formOf(content: Uint8Array, breaksAfter?: number): UploadBody {
  const head = '--XyZ\r\nContent-Disposition: form-data; name="chunk"; filename="disk.img"\r\n\r\n';
  const bytes = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--XyZ--\r\n')]);
  return { contentType: 'multipart/form-data; boundary=XyZ', bytes: inPieces(bytes, breaksAfter) };
}

/** The conditions in short: `Imported: Unknown/Importing`. */
export function saidBy(image: VirtualMachineImage, type: string): string {
  const found = image.status?.conditions?.find((condition) => condition.type === type);
  return found ? `${found.status}/${found.reason ?? ''}` : 'nothing';
}

export function messageOf(image: VirtualMachineImage, type: string): string {
  return image.status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
}
