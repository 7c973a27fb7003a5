import { sleep, toError } from '@sheaf/base';
import type { ImageOrder } from '@sheaf/ports';
import { SimulatedDiskFull, type SimulatedLife } from './simulated-life.ts';
import type { SimulatedImage } from './simulated-medium.ts';
import type { SimulatedAnswer, SimulatedSources } from './simulated-sources.ts';

const attempts = 3;
const retryMs = 1000;
const stallMs = 60_000;
const pieceBytes = 64 * 1024;

/** What asking again will not mend. */
export class SimulatedFault extends Error {}

export interface SimulatedDownload {
  readonly life: SimulatedLife;
  readonly sources: SimulatedSources;
  readonly image: SimulatedImage;
  readonly onBytes: () => void;
}

type Origin = Extract<ImageOrder['origin'], { kind: 'download' }>;

/** Brings an image from the first address that gives it, going on where it was if the server says that it is the same. */
export async function simulateDownload(download: SimulatedDownload, signal: AbortSignal): Promise<void> {
  const { urls } = download.image.order.origin as Origin;
  const failures: Error[] = [];
  for (const url of urls) {
    const failure = await tryUrl(download, url, signal);
    if (!failure) return;
    failures.push(failure);
  }
  const message = failures.map((failure) => failure.message).join('; ');
  throw failures.every((failure) => failure instanceof SimulatedFault)
    ? new SimulatedFault(message)
    : new Error(message);
}

async function tryUrl(
  download: SimulatedDownload,
  url: string,
  signal: AbortSignal,
): Promise<Error | undefined> {
  const { life, image } = download;
  let failure = new Error('no attempt was made');
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await sleep(life.clock, retryMs, signal);
    const before = image.received.length;
    try {
      await attemptOnce(download, url, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (life.isOver || error instanceof SimulatedDiskFull) throw error;
      failure = toError(error);
      if (error instanceof SimulatedFault) return failure;
      if (image.received.length > before) attempt = -1;
    }
  }
  return failure;
}

async function attemptOnce(download: SimulatedDownload, url: string, signal: AbortSignal): Promise<void> {
  const { life, sources, image } = download;
  await life.work('source-asked', signal);
  const answer = sources.ask(url);
  checkStatus(answer.status ?? 200);
  begin(image, url, answer);
  const start = image.received.length;
  const end = Math.min(
    answer.content.length,
    start + (answer.breaksAfter ?? answer.stallsAfter ?? Number.MAX_SAFE_INTEGER),
  );
  while (image.received.length < end) {
    const from = image.received.length;
    const piece = life.arrived(answer.content.slice(from, Math.min(end, from + pieceBytes)));
    await life.work('bytes-received', signal);
    image.received = Buffer.concat([image.received, piece]);
    checkLength(image);
    download.onBytes();
  }
  if (answer.stallsAfter !== undefined) await sleep(life.clock, stallMs, signal);
  if (answer.stallsAfter !== undefined) throw new Error(`${url}: nothing came for ${stallMs / 1000} s`);
  if (end < answer.content.length) throw new Error(`${url}: the connection broke`);
}

function begin(image: SimulatedImage, url: string, answer: SimulatedAnswer): void {
  const { etag, content, hidesLength } = answer;
  const isResumed = isPartOf(image, url);
  if (isResumed && image.pinned?.etag === etag) return;
  image.received = new Uint8Array();
  image.pinned = undefined;
  if (isResumed && answer.trustsAsker)
    throw new Error('the file has changed while it came; it is fetched from the start');
  image.pinned = { url, etag };
  image.totalBytes = hidesLength ? undefined : content.length;
  const { maxBytes } = image.order;
  if ((image.totalBytes ?? 0) > maxBytes)
    throw new SimulatedFault(`it has ${content.length} bytes, more than the ${maxBytes} that are allowed`);
}

/** What has come is from there, and there is a way to tell whether it is still the same. */
function isPartOf({ pinned, received }: SimulatedImage, url: string): boolean {
  return pinned?.url === url && pinned.etag !== undefined && received.length > 0;
}

function checkLength({ received, order }: SimulatedImage): void {
  if (received.length > order.maxBytes)
    throw new SimulatedFault(`it has more than the ${order.maxBytes} bytes that are allowed`);
}

function checkStatus(status: number): void {
  if (status === 200) return;
  const isLasting = status >= 400 && status < 500 && status !== 408 && status !== 429;
  throw new (isLasting ? SimulatedFault : Error)(`the server answers ${status}`);
}
