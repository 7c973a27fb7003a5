import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VirtualMachineImage, VirtualMachineImageSpec } from '@sheaf/api/virtualization/index';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { HttpServer } from '@sheaf/apiserver';
import { type Clock, silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { openLocalDisk } from '@sheaf/drivers/local-disk';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, startTestServer, testCertificates } from '@sheaf/testkit';
import { currentImages, mebibyte, servedKinds } from './image-world.fixture.ts';
import { extend, register, UploadDesk } from './register.ts';

/** Why tests that need QEMU's tools cannot run here; `false`: they can. */
export const whySkipped =
  spawnSync('qemu-img', ['--version']).status === 0
    ? false
    : 'qemu-img is not installed (package qemu-utils)';

export interface RealImages {
  readonly client: Client;
  readonly directory: string;
  create(name: string, spec: Partial<VirtualMachineImageSpec>): Promise<void>;
  until(name: string, claim: (image: VirtualMachineImage) => boolean): Promise<VirtualMachineImage>;
  /** An address that answers so. */
  serve(listener: RequestListener): string;
  /** A request as curl makes it; `undefined`: the connection was broken off by `body`. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer | undefined>;
  restart(): Promise<void>;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Ten seconds between two attempts are half a second here. */
function hastened(clock: Clock, factor: number): Clock {
  return {
    now: () => clock.now() + clock.monotonic() * (factor - 1),
    monotonic: () => clock.monotonic() * factor,
    schedule: (delayMs, task) => clock.schedule(delayMs / factor, task),
  };
}

/** The API behind HTTPS, the driver of local disks, and servers of images on the loopback. */
export async function withRealImages(run: (world: RealImages) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'vm-image-'));
  const openDisk = () =>
    openLocalDisk({
      directory: join(directory, 'disks'),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      overCommitment: 1,
      limits: { stallMs: 300, retryMs: 5, attempts: 2, checkpointBytes: mebibyte },
    });
  let disk = await openDisk();
  const images = currentImages(() => disk.images);
  const options = {
    images,
    uploads: new UploadDesk({ images, clock: systemClock }),
    maxBytes: 256 * mebibyte,
  };
  const server = await startTestServer({
    clock: systemClock,
    extend: (api, client) => extend(api, { ...options, client, clock: systemClock }),
  });
  const { client } = server;
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const definitions = kindDefinitions().filter(({ name }) => servedKinds.includes(name));
  for (const definition of customResourceDefinitions(definitions))
    await client.create(resources.customResourceDefinitions, definition);
  const { authority, admin, serving } = await testCertificates();
  const http = new HttpServer({
    handler: server.server.handle,
    clock: systemClock,
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem },
  });
  const { port } = await http.listen('127.0.0.1', 0);
  const startManager = (): Manager => {
    const clock = hastened(systemClock, 20);
    const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
    register(manager, options);
    void manager.start();
    return manager;
  };
  let manager = startManager();
  const listeners: RequestListener[] = [];
  const sources = createServer((incoming, outgoing) =>
    listeners[Number(incoming.url?.slice(1))]?.(incoming, outgoing),
  );
  await new Promise<void>((resolve) => sources.listen(0, '127.0.0.1', resolve));
  const tls = { ca: authority.certificatePem, key: admin.privateKeyPem, cert: admin.certificatePem };
  try {
    await run({
      client,
      directory,
      async create(name, spec) {
        const metadata = { namespace: 'default', name };
        await client.create(resources.virtualMachineImages, {
          metadata,
          spec: { displayName: name, sourceType: 'download', ...spec },
        });
      },
      until: (name, claim) => untilImage(client, name, claim),
      serve(listener) {
        listeners.push(listener);
        return `http://127.0.0.1:${(sources.address() as AddressInfo).port}/${listeners.length - 1}`;
      },
      send: (method, path, sent = {}) => send({ ...tls, method, path, port, ...sent }),
      async restart() {
        await manager.stop();
        await disk.dispose();
        disk = await openDisk();
        manager = startManager();
      },
    });
  } finally {
    await manager.stop();
    await http.close(100);
    await server.close();
    await disk.dispose();
    sources.closeAllConnections();
    await new Promise((resolve) => sources.close(resolve));
    await rm(directory, { recursive: true });
  }
}

async function untilImage(
  client: Client,
  name: string,
  claim: (image: VirtualMachineImage) => boolean,
): Promise<VirtualMachineImage> {
  let image: VirtualMachineImage | undefined;
  for (let turn = 0; turn < 3000; turn++) {
    image = await client.get(resources.virtualMachineImages, { namespace: 'default', name });
    if (claim(image)) return image;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`this does not become true: ${claim.toString()}: ${JSON.stringify(image?.status)}`);
}

interface Sent extends SendOptions {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
  readonly method: string;
  readonly path: string;
  readonly port: number;
}

function send({ body, ...options }: Sent): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, host: '127.0.0.1', agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      );
    });
    outgoing.on('error', reject);
    write(outgoing, body).catch(() => {
      outgoing.removeAllListeners('error');
      outgoing.on('error', () => undefined);
      outgoing.destroy();
      resolve(undefined);
    });
  });
}

async function write(
  outgoing: ReturnType<typeof request>,
  body: AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  for await (const chunk of body ?? [])
    if (!outgoing.write(chunk)) await new Promise((resolve) => outgoing.once('drain', resolve));
  outgoing.end();
}
