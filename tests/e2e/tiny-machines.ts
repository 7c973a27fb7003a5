import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ByteStream, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { diskGuestSectors } from '../guests/disk-guest.gen.ts';
import { serveFile } from './file-server.ts';
import { eventually, type Installation } from './installation.ts';

const diskBytes = 1024 * 1024;
const answerMs = 5000;
const consoles = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances';

/** The image of the guest, imported: what disks of machines are made from. */
export interface TinyImage {
  readonly storageClass: string;
  readonly imageId: string;
}

/** Imports the guest of disk-guest.S as an image, as a user would: by its address. */
export async function importTinyImage(sheaf: Installation, name = 'tiny'): Promise<TinyImage> {
  const path = join(sheaf.directory, `${name}.img`);
  const disk = Buffer.alloc(diskBytes);
  disk.set(diskGuestSectors());
  await writeFile(path, disk);
  const server = await serveFile(path);
  try {
    const client = await sheaf.client();
    await client.create(resources.virtualMachineImages, {
      metadata: { namespace: 'default', name },
      spec: { displayName: name, sourceType: 'download', url: server.url },
    });
    let image = await client.get(resources.virtualMachineImages, { namespace: 'default', name });
    await eventually(
      async () => {
        image = await client.get(resources.virtualMachineImages, { namespace: 'default', name });
        return image.status?.progress === 100 && image.status.storageClassName !== undefined;
      },
      { goal: 'the image is there' },
      () => JSON.stringify(image.status),
    );
    return { storageClass: image.status?.storageClassName ?? '', imageId: `default/${name}` };
  } finally {
    await server.close();
  }
}

export interface TinyOptions {
  readonly name: string;
  readonly runStrategy: string;
  /** 30, if absent. */
  readonly graceSeconds?: number;
  /** Of its processor. */
  readonly model?: string;
  /** Whether it has cloud-init data, which is a file of its own on the host. */
  readonly hasSeed?: boolean;
}

/** The volume with the cloud-init data. */
export const seedName = 'seed';

/** A machine that boots the tiny guest from a disk of its own. */
export function tinyMachine(image: TinyImage, options: TinyOptions) {
  const { name, runStrategy, graceSeconds = 30, model, hasSeed = false } = options;
  const seed = hasSeed ? [{ name: seedName, cloudInitNoCloud: { userData: '#cloud-config\n' } }] : [];
  const claim = {
    metadata: { name: `${name}-root`, annotations: { 'harvesterhci.io/imageId': image.imageId } },
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '4Mi' } },
      volumeMode: 'Block',
      storageClassName: image.storageClass,
    },
  };
  const spec = {
    terminationGracePeriodSeconds: graceSeconds,
    domain: {
      cpu: { cores: 1, ...(model === undefined ? {} : { model }) },
      memory: { guest: '32Mi' },
      // Many of them are to fit on a small host.
      resources: { requests: { cpu: '10m' } },
      devices: {
        autoattachGraphicsDevice: false,
        autoattachPodInterface: false,
        disks: [
          { name: 'root', bootOrder: 1, disk: { bus: 'virtio' } },
          ...seed.map((volume) => ({ name: volume.name, disk: { bus: 'virtio' } })),
        ],
      },
    },
    volumes: [{ name: 'root', persistentVolumeClaim: { claimName: `${name}-root` } }, ...seed],
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name,
      namespace: 'default',
      annotations: { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify([claim]) },
    },
    spec: { runStrategy, template: { spec } },
  };
}

/** What the tiny guest says of itself. */
export interface GuestWord {
  /** How often its disk was booted. */
  readonly boots: number;
  /** The beginning of the UUID of the machine that was the first to boot the disk. */
  readonly diskOf: string;
  /** The beginning of the UUID of the machine that it is in. */
  readonly machine: string;
  /** Of the timer, 18 a second, since it was booted. */
  readonly ticks: number;
}

let questions = 0;

/** Asks over the console of the API; keys that are typed before the guest listens are lost, so it is asked until it answers. */
export async function askGuest(client: Client, name: string): Promise<GuestWord> {
  let word: GuestWord | undefined;
  await eventually(
    async () => {
      word = await answerOf(client, name);
      return word !== undefined;
    },
    { goal: `the guest of ${name} answers` },
  );
  if (!word) throw new Error(`the guest of ${name} has not answered`);
  return word;
}

async function answerOf(client: Client, name: string): Promise<GuestWord | undefined> {
  const mark = `x${questions++}x`;
  const answer = new RegExp(`${mark}boot (\\d+), disk of (\\w{8}), in (\\w{8}), ticks (\\d+)\\n`);
  const said = await converse(client, name, { keys: `${mark}?`, answer });
  const [, boots, diskOf = '', machine = '', ticks] = answer.exec(said) ?? [];
  return boots === undefined ? undefined : { boots: Number(boots), diskOf, machine, ticks: Number(ticks) };
}

interface Talk {
  readonly keys: string;
  readonly answer: RegExp;
}

/** What came over the console until the answer, or until the time for it was over. */
async function converse(client: Client, name: string, talk: Talk): Promise<string> {
  const signal = AbortSignal.timeout(answerMs);
  let stream: ByteStream | undefined;
  try {
    stream = await client.connect(`${consoles}/${name}/console`, { signal });
    await stream.write(Buffer.from(talk.keys));
    return await readUntil(stream, talk.answer);
  } catch (error) {
    // It does not run, or not any more.
    if (signal.aborted || StatusError.is(error)) return '';
    throw error;
  } finally {
    stream?.dispose();
  }
}

async function readUntil({ readable }: ByteStream, answer: RegExp): Promise<string> {
  let said = '';
  for await (const chunk of readable) {
    said += Buffer.from(chunk).toString('latin1');
    if (answer.test(said)) return said;
  }
  return said;
}

export type GuestDeed = 'power off' | 'panic' | 'reset' | 'go deaf';
const keyOf: Readonly<Record<GuestDeed, string>> = {
  'power off': 'Q',
  panic: 'P',
  reset: 'R',
  'go deaf': 'D',
};

/** Makes the guest do something by itself. It has been seen to listen before. */
export async function tellGuest(client: Client, name: string, deed: GuestDeed): Promise<void> {
  await askGuest(client, name);
  const stream = await client.connect(`${consoles}/${name}/console`);
  try {
    await stream.write(Buffer.from(keyOf[deed]));
    await pause(200);
  } finally {
    stream.dispose();
  }
}
