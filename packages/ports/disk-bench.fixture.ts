import type { DiskFile } from './hypervisor/machine-devices.ts';
import type { ImageOrigin, Images } from './images.ts';
import type { Progress, VolumeContent, VolumeOrder, Volumes } from './volumes.ts';

/** One answer of a server that images are downloaded from. */
export interface SourceAnswer {
  readonly content: Uint8Array;
  /** 200 if absent, or 206 where the rest of the same content is asked for. */
  readonly status?: number;
  /** Names this state of the content; absent: the server cannot tell states apart. */
  readonly etag?: string;
  /** The connection breaks after so many bytes. */
  readonly breaksAfter?: number;
  /** Nothing more comes after so many bytes. */
  readonly stallsAfter?: number;
  /** The length is not told. */
  readonly hidesLength?: boolean;
  /** Sends from where it is asked to, without looking at what the asker has. */
  readonly trustsAsker?: boolean;
}

/** A file as a machine has it open: it may be read and written in cells of 64 KiB, each all of one value. */
export interface OpenDisk {
  write(cell: number, value: number): Promise<void>;
  read(cell: number): Promise<number>;
  close(): Promise<void>;
}

/** A driver of both contracts, and the world around it. */
export interface DiskBench {
  /** Those of the present life of the driver. */
  readonly volumes: Volumes;
  readonly images: Images;
  open(file: DiskFile): Promise<OpenDisk>;
  /** The answers in turn, the last one again and again. */
  offer(answers: readonly SourceAnswer[]): Promise<string>;
  until(claim: () => Promise<boolean>): Promise<void>;
  /** The driver ends, wherever it is, and begins again on the same medium. */
  restart(): Promise<void>;
}

export type WithBench = (use: (bench: DiskBench) => Promise<void>) => Promise<void>;

export const cellBytes = 64 * 1024;
export const mebibyte = 1024 * 1024;
export const { signal } = new AbortController();

/** A raw disk of cells. */
export function rawDisk(...cells: readonly number[]): Uint8Array {
  return Buffer.concat(cells.map((value) => Buffer.alloc(cellBytes, value)));
}

export async function* inPieces(bytes: Uint8Array, pieceBytes = 16 * 1024): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

export function blankOrder(id: string, bytes = mebibyte): VolumeOrder {
  return { id, title: `ns/${id}`, bytes, content: { kind: 'blank' }, provisioning: 'thin' };
}

export function orderOf(
  id: string,
  content: VolumeContent,
  provisioning: 'thin' | 'full' = 'thin',
): VolumeOrder {
  return { ...blankOrder(id), content, provisioning };
}

/** Makes a volume and waits for its end. */
export async function make(bench: DiskBench, order: VolumeOrder): Promise<void> {
  let progress: Progress | undefined;
  await bench.until(async () => {
    progress = await bench.volumes.create(order, signal);
    return progress.state !== 'working';
  });
  if (progress?.state !== 'done') throw new Error(`volume ${order.id}: ${JSON.stringify(progress)}`);
}

/** Where a machine that is started now finds the volume. */
export async function fileOf(bench: DiskBench, id: string): Promise<DiskFile> {
  await bench.until(async () => !(await bench.volumes.find(id, signal))?.isBusy);
  const volume = await bench.volumes.find(id, signal);
  if (!volume) throw new Error(`there is no volume ${id}`);
  return volume.file;
}

export async function write(
  bench: DiskBench,
  id: string,
  cells: Readonly<Record<number, number>>,
): Promise<void> {
  const disk = await bench.open(await fileOf(bench, id));
  for (const [cell, value] of Object.entries(cells)) await disk.write(Number(cell), value);
  await disk.close();
}

/** The first cells of a volume. */
export async function contentOf(bench: DiskBench, id: string, count = 3): Promise<number[]> {
  const disk = await bench.open(await fileOf(bench, id));
  const values: number[] = [];
  for (let cell = 0; cell < count; cell++) values.push(await disk.read(cell));
  await disk.close();
  return values;
}

export async function upload(bench: DiskBench, id: string, bytes: Uint8Array): Promise<void> {
  await bench.images.request(imageOrder(id, { kind: 'upload' }), signal);
  await bench.images.receive(id, { offset: 0, bytes: inPieces(bytes), isLast: true }, signal);
  await settled(bench, id);
}

/** All that a finished image holds. */
export async function bytesOf(bench: DiskBench, id: string): Promise<Buffer> {
  const { bytes, content } = await bench.images.read(id, signal);
  const found = await collect(content);
  if (found.length !== bytes) throw new Error(`${found.length} bytes were read, ${bytes} were announced`);
  return found;
}

export function imageOrder(id: string, origin: ImageOrigin) {
  return { id, title: `ns/${id}`, origin, maxBytes: mebibyte };
}

/** Waits until work on an image has ended, and tells how. */
export async function settled(bench: DiskBench, id: string): Promise<Progress> {
  let progress: Progress | undefined;
  await bench.until(async () => {
    progress = (await bench.images.find(id, signal))?.progress;
    return progress?.state !== 'working';
  });
  if (!progress) throw new Error(`there is no image ${id}`);
  return progress;
}

export function refusedAs(reason: string, words: RegExp) {
  return (error: unknown): boolean =>
    error instanceof Error && 'reason' in error && error.reason === reason && words.test(error.message);
}
