/**
 * Kills a process that works with volumes and images, at random moments, and checks each time that all that was acknowledged is
 * there, that every file is sound, that none is left that nobody owns, and that what was begun can be ended.
 * `node tests/faults/volumes/kill.ts 100` runs a hundred rounds; a second argument is the seed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { StatusError } from '@sheaf/base';
import type { LocalDisk } from '@sheaf/drivers/local-disk';
import { collect, signal } from '@sheaf/ports/disk-bench.fixture';
import { SeededRandom } from '@sheaf/testkit/seeded-random';
import { checkLayers, until } from '../../../packages/drivers/local-disk/local-disk.fixture.ts';
import { openDisk } from '../../../packages/drivers/local-disk/open-disk.fixture.ts';
import { SourceServer } from '../../../packages/drivers/local-disk/source-server.fixture.ts';
import { Expectation } from './expectation.ts';
import { bytesOf, type Operation, open, perform } from './operations.ts';

export interface KillSummary {
  readonly kills: number;
  readonly acknowledged: number;
  /** Begun, but killed before they were acknowledged. */
  readonly interrupted: number;
  readonly refused: number;
}

const downloaded = [11, 12, 13, 14];

interface Outcome {
  readonly done: readonly Operation[];
  readonly inDoubt: Operation | undefined;
  readonly refused: number;
}

/** @throws AssertionError as soon as a round finds something wrong */
export async function runKills(kills: number, seed: number): Promise<KillSummary> {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-volume-kill-'));
  const server = await SourceServer.start();
  const url = server.offer([{ content: bytesOf(downloaded), etag: '"a"' }]);
  const random = new SeededRandom(seed);
  const expectation = new Expectation(downloaded);
  let acknowledged = 0;
  let interrupted = 0;
  let refused = 0;
  try {
    for (let round = 0; round < kills; round++) {
      const moment = {
        operations: 1 + random.integer(8),
        delayMs: random.integer(40),
        isEarly: round % 7 === 6,
      };
      const outcome = await killOnce({ directory, url, seed: seed * 1000 + round, ...moment });
      for (const operation of outcome.done) expectation.apply(operation);
      await verify(directory, { expectation, inDoubt: outcome.inDoubt, random });
      // Damage stays; looking at every file each time would take most of the time.
      if (round % 4 === 3 || round === kills - 1) await checkLayers(directory);
      acknowledged += outcome.done.length;
      interrupted += outcome.inDoubt ? 1 : 0;
      refused += outcome.refused;
    }
  } finally {
    await server.stop();
    await rm(directory, { recursive: true });
  }
  return { kills, acknowledged, interrupted, refused };
}

interface Round {
  readonly directory: string;
  readonly url: string;
  readonly seed: number;
  /** It is killed so long after it has begun this many. */
  readonly operations: number;
  readonly delayMs: number;
  /** It is killed while it starts or opens. */
  readonly isEarly: boolean;
}

async function killOnce(round: Round): Promise<Outcome> {
  const script = join(import.meta.dirname, 'kill-victim.ts');
  const victim = spawn(process.execPath, [script, round.directory, String(round.seed), round.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<string | null>((resolve) => victim.on('close', (_, name) => resolve(name)));
  const killSoon = (delayMs: number): unknown => setTimeout(() => victim.kill('SIGKILL'), delayMs);
  if (round.isEarly) killSoon(120 + round.delayMs * 4);
  const done: Operation[] = [];
  let inDoubt: Operation | undefined;
  let begun = 0;
  createInterface({ input: victim.stdout }).on('line', (line) => {
    // The last line may be cut.
    if (!line.endsWith('}')) return;
    const entry = JSON.parse(line) as { begun?: Operation; done?: Operation };
    inDoubt = entry.begun;
    if (entry.done) done.push(entry.done);
    if (entry.begun && ++begun === round.operations) killSoon(round.delayMs);
  });
  assert.equal(await exited, 'SIGKILL', 'the victim ended by itself');
  const refused = begun - done.length - (inDoubt ? 1 : 0);
  return { done, inDoubt, refused };
}

interface Verification {
  readonly expectation: Expectation;
  readonly inDoubt: Operation | undefined;
  readonly random: SeededRandom;
}

async function verify(directory: string, { expectation, inDoubt, random }: Verification): Promise<void> {
  const disk = await open(directory);
  try {
    await settle(disk, inDoubt);
    await checkSet(disk, expectation, inDoubt);
    if (inDoubt && (await finish(disk, inDoubt))) expectation.apply(inDoubt);
    await settle(disk);
    await checkSet(disk, expectation, undefined);
    await checkContents(disk, { expectation, random });
    await checkOwned(disk);
  } finally {
    await disk.dispose();
  }
}

/** All that was begun in the background goes on by itself; only an upload waits for its sender. */
async function settle(disk: LocalDisk, inDoubt?: Operation): Promise<void> {
  const waitingId = inDoubt?.kind === 'upload-image' ? inDoubt.order.id : undefined;
  await until(async () => {
    const images = await disk.images.list(signal);
    const failed = images.find(({ progress }) => progress.state === 'failed');
    assert.equal(failed, undefined, JSON.stringify(failed));
    return images.every(({ id, progress }) => progress.state === 'done' || id === waitingId);
  });
  await disk.idle();
}

async function checkSet(
  disk: LocalDisk,
  expectation: Expectation,
  inDoubt: Operation | undefined,
): Promise<void> {
  const found = {
    volumes: (await disk.volumes.list(signal)).map(({ id, bytes }) => `${id} ${bytes}`).sort(),
    snapshots: (await disk.volumes.listSnapshots(signal)).map(({ id }) => id).sort(),
    images: (await disk.images.list(signal)).map(({ id }) => id).sort(),
    memories: await keptMemories(disk),
  };
  const without = expectation.ids();
  if (!inDoubt) return assert.deepEqual(found, without);
  const withIt = expectation.with(inDoubt).ids();
  const fits = [without, withIt].some((ids) => JSON.stringify(ids) === JSON.stringify(found));
  if (!fits) assert.deepEqual(found, without, `in doubt: ${JSON.stringify(inDoubt)}`);
}

/** With what is in their files. */
async function keptMemories({ memories }: LocalDisk): Promise<string[]> {
  const kept = (await memories.list(signal)).filter(({ state }) => state === 'kept');
  const sized = kept.map(async ({ id, path }) => `${id} ${(await stat(path)).size}`);
  return (await Promise.all(sized)).sort();
}

/** False: it is refused, as it was not begun. */
async function finish(disk: LocalDisk, operation: Operation): Promise<boolean> {
  try {
    await perform(disk, operation);
    return true;
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    return false;
  }
}

async function checkContents(
  disk: LocalDisk,
  { expectation, random }: Pick<Verification, 'expectation' | 'random'>,
): Promise<void> {
  const volumes = await disk.volumes.list(signal);
  for (const { id, file } of volumes) {
    const isChosen = random.integer(4) === 0;
    const cells = expectation.volumeCells(id);
    if (!isChosen || !cells) continue;
    const opened = await openDisk(file);
    for (const [cell, value] of cells.entries())
      assert.equal(await opened.read(cell), value, `${id}, cell ${cell}`);
    const value = 1 + random.integer(255);
    await opened.write(0, value);
    await opened.close();
    expectation.written(id, value);
  }
  for (const id of expectation.rawImages()) {
    const { content } = await disk.images.read(id, signal);
    assert.deepEqual(await collect(content), bytesOf(expectation.imageCells(id) ?? []), `image ${id}`);
  }
}

async function checkOwned(disk: LocalDisk): Promise<void> {
  const known = {
    volumeIds: new Set((await disk.volumes.list(signal)).map(({ id }) => id)),
    snapshotIds: new Set((await disk.volumes.listSnapshots(signal)).map(({ id }) => id)),
    imageIds: new Set((await disk.images.list(signal)).map(({ id }) => id)),
  };
  assert.deepEqual(await disk.volumes.findUnowned(known, signal), []);
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const summary = await runKills(Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 1));
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}
