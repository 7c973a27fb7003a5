import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@sheaf/base';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import type { DiskBench } from '@sheaf/ports/disk-bench.fixture';
import { openDisk } from './open-disk.fixture.ts';
import { type LocalDisk, type LocalDiskOptions, openLocalDisk } from './register.ts';
import { SourceServer } from './source-server.fixture.ts';

/** Why tests that need QEMU's tools cannot run here; `false`: they can. */
export const whySkipped =
  spawnSync('qemu-img', ['--version']).status === 0 && spawnSync('qemu-io', ['--version']).status === 0
    ? false
    : 'qemu-img and qemu-io are not installed (package qemu-utils)';

export const limits = { stallMs: 300, retryMs: 5, attempts: 3, checkpointBytes: 16 * 1024 };

export interface LocalBench extends DiskBench {
  readonly directory: string;
  readonly disk: LocalDisk;
  readonly server: SourceServer;
}

export function openIn(directory: string, options: Partial<LocalDiskOptions> = {}): Promise<LocalDisk> {
  return openLocalDisk({
    directory,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    overCommitment: 1,
    limits,
    ...options,
  });
}

/** Gives each test a directory and a driver, and looks at the end whether every file in it is sound. */
export async function withLocalDisk(
  use: (bench: LocalBench) => Promise<void>,
  options: Partial<LocalDiskOptions> = {},
): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'local-disk-'));
  const directory = options.directory ?? join(parent, 'disks');
  const server = await SourceServer.start();
  let disk = await openIn(directory, options);
  try {
    await use({
      directory,
      server,
      get disk() {
        return disk;
      },
      get volumes() {
        return disk.volumes;
      },
      get images() {
        return disk.images;
      },
      open: openDisk,
      offer: async (answers) => server.offer(answers),
      until,
      async restart() {
        await disk.dispose();
        disk = await openIn(directory, options);
      },
    });
    await disk.idle();
    await checkLayers(directory);
  } finally {
    await disk.dispose();
    await server.stop();
    await rm(parent, { recursive: true });
  }
}

export async function until(claim: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 12_000; turn++) {
    if (await claim()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`this does not become true: ${claim.toString()}`);
}

/** @throws Error when a layer is damaged or wastes clusters, or when work was left unfinished */
export async function checkLayers(directory: string): Promise<void> {
  const layers = join(directory, 'layers');
  for (const name of await readdir(layers)) {
    if (name.endsWith('.raw')) continue;
    const check = spawnSync('qemu-img', ['check', '-U', '-f', 'qcow2', join(layers, name)], {
      encoding: 'utf8',
    });
    if (check.status !== 0) throw new Error(`${name}: ${check.stdout}${check.stderr}`);
  }
  const unfinished = await readdir(join(directory, 'work'));
  if (unfinished.length > 0) throw new Error(`left unfinished: ${unfinished.join(', ')}`);
}
