import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { openQemu } from '@sheaf/drivers/qemu';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import type { DiskFile, Hypervisor, MachineSpec } from '@sheaf/ports';
import { until } from '../../packages/drivers/local-disk/local-disk.fixture.ts';

export const place = (name: string) => ({ namespace: 'default', name });
export const signal = AbortSignal.timeout(120_000);
export const claims = resources.persistentVolumeClaims;

/** A directory for real machines, of which each life of the driver finds those of the one before. */
export interface RealMachines {
  readonly directory: string;
  readonly hypervisor: Hypervisor;
  /** The life of before must have been disposed. */
  reopen(): Hypervisor;
}

export async function withQemu(
  context: TestContext,
  use: (machines: RealMachines) => Promise<void>,
  mayWrite: (path: string) => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'volume-machine-'));
  const open = (): Hypervisor =>
    openQemu({
      directory,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      accelerator: 'tcg',
      mayWrite,
    });
  let hypervisor = open();
  const reopen = (): Hypervisor => {
    hypervisor = open();
    return hypervisor;
  };
  try {
    const { hypervisor: ability } = await hypervisor.probe(AbortSignal.timeout(30_000));
    if (ability.isAvailable) await use({ directory, hypervisor, reopen });
    else context.skip(ability.reason);
  } finally {
    await endAll(hypervisor);
    hypervisor.dispose();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A test that has failed leaves no process behind. */
async function endAll(hypervisor: Hypervisor): Promise<void> {
  const bounded = AbortSignal.timeout(30_000);
  for (const { id, state } of await hypervisor.list(bounded))
    if (state !== 'ended') await hypervisor.end(id, bounded);
}

export function specOf(id: string, files: readonly DiskFile[]): MachineSpec {
  return {
    id,
    title: 'default/m',
    machineType: 'q35',
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 2 ** 26 },
    firmware: { kind: 'bios' },
    identity: { uuid: '00000000-0000-4000-8000-000000000000' },
    disks: files.map((file, index) => ({ name: `disk-${index}`, device: 'disk', bus: 'virtio', file })),
    nics: [],
    hasGraphics: false,
    hasSerialConsole: true,
    hasAgentChannel: false,
    hasRandomSource: false,
    hasBalloon: false,
  };
}

/** A claim of 4 MiB that has its volume; resolves to the id of that. */
export async function createBound(
  client: Client,
  name: string,
  source: Partial<PersistentVolumeClaim['spec']> = {},
): Promise<string> {
  const { metadata } = await client.create(claims, {
    metadata: place(name),
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      resources: { requests: { storage: '4Mi' } },
      ...source,
    },
  });
  await until(async () => (await client.get(claims, place(name))).status?.phase === 'Bound');
  return metadata.uid ?? '';
}

/** The instance `m`, and its machine with the files of claims as `disk-0`, `disk-1` … */
export async function startMachine(
  client: Client,
  hypervisor: Hypervisor,
  disks: readonly { readonly claimName: string; readonly file: DiskFile }[],
): Promise<string> {
  const { metadata } = await client.create(resources.virtualMachineInstances, {
    metadata: place('m'),
    spec: {
      domain: { devices: {}, memory: { guest: '64Mi' } },
      volumes: disks.map(({ claimName }, index) => ({
        name: `disk-${index}`,
        persistentVolumeClaim: { claimName },
      })),
    },
  });
  const id = metadata.uid ?? '';
  const spec = specOf(
    id,
    disks.map(({ file }) => file),
  );
  await hypervisor.start(spec, signal);
  await hypervisor.resume(id, signal);
  return id;
}
