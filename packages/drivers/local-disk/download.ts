import type { IncomingMessage } from 'node:http';
import { type Clock, type Disposable, type Logger, StatusError, sleep, toError } from '@sheaf/base';
import type { PinnedSource } from './disk-records.ts';
import { isFull } from './durable-files.ts';
import { type HttpSource, SourceFault, shownUrl } from './http-source.ts';
import type { ImageLimits } from './image-limits.ts';
import type { PartFile } from './part-file.ts';

export interface DownloadOrder {
  readonly urls: readonly string[];
  readonly additionalAuthorities?: string | undefined;
  readonly isVerified: boolean;
  readonly maxBytes: number;
  readonly pinned?: PinnedSource | undefined;
  /** How long the pinned file is, if that was told. */
  readonly totalBytes?: number | undefined;
}

export interface DownloadProgress {
  /** Durable when it resolves: from here on bytes of this source come. */
  onSource(pinned: PinnedSource, totalBytes: number | undefined): Promise<void>;
  onBytes(bytes: number): void;
}

export interface DownloadParts {
  readonly source: HttpSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ImageLimits;
}

/**
 * Brings a file from the first address that gives it. After a break it goes on where it was, if the server says that the file
 * is still the same; otherwise from the start.
 */
export class Download {
  readonly #parts: DownloadParts;
  readonly #order: DownloadOrder;
  readonly #part: PartFile;
  readonly #progress: DownloadProgress;
  #pinned: PinnedSource | undefined;
  #totalBytes: number | undefined;

  constructor(
    parts: DownloadParts,
    order: DownloadOrder,
    to: { part: PartFile; progress: DownloadProgress },
  ) {
    this.#parts = parts;
    this.#order = order;
    this.#part = to.part;
    this.#progress = to.progress;
    this.#pinned = order.pinned;
    this.#totalBytes = order.totalBytes;
  }

  /** @throws SourceFault when no address will ever do; Error when one may later */
  async run(signal: AbortSignal): Promise<void> {
    const failures: Error[] = [];
    for (const url of this.#urls()) {
      const failure = await this.#runUrl(url, signal);
      if (!failure) return;
      failures.push(failure);
    }
    const message = failures.map((failure) => failure.message).join('; ');
    throw failures.every((failure) => failure instanceof SourceFault)
      ? new SourceFault(message)
      : new Error(message);
  }

  /** Where it was interrupted comes first. */
  #urls(): readonly string[] {
    const { urls } = this.#order;
    const current = this.#pinned?.url;
    return current !== undefined && urls.includes(current)
      ? [current, ...urls.filter((url) => url !== current)]
      : urls;
  }

  async #runUrl(url: string, signal: AbortSignal): Promise<Error | undefined> {
    const { clock, limits, logger } = this.#parts;
    let failure = new Error('no attempt was made');
    for (let attempt = 0; attempt < limits.attempts; attempt++) {
      if (attempt > 0) await sleep(clock, limits.retryMs, signal);
      const before = this.#part.bytes;
      try {
        await this.#attempt(url, signal);
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (isFull(error)) await this.#part.forget();
        if (isFull(error) || StatusError.is(error)) throw error;
        failure = new (error instanceof SourceFault ? SourceFault : Error)(
          `${shownUrl(url)}: ${toError(error).message}`,
        );
        logger.debug('a download broke off', { error: failure.message, bytes: this.#part.bytes });
        if (error instanceof SourceFault) return failure;
        if (this.#part.bytes > before) attempt = -1;
      }
    }
    return failure;
  }

  async #attempt(url: string, signal: AbortSignal): Promise<void> {
    const stall = new StallGuard(this.#parts.clock, this.#parts.limits.stallMs, signal);
    try {
      const validator = this.#validatorFor(url);
      const answer = await this.#ask(url, validator, stall.signal);
      try {
        const total = await this.#begin(url, answer, validator !== undefined);
        await this.#receive(answer, total, stall);
      } finally {
        answer.destroy();
        await this.#part.checkpoint();
      }
    } catch (error) {
      throw stall.reason ?? error;
    } finally {
      stall.dispose();
    }
  }

  /** By which a server can tell that what we have is a part of what it has now. */
  #validatorFor(url: string): string | undefined {
    if (this.#pinned?.url !== url || this.#part.bytes === 0) return undefined;
    return this.#pinned.etag ?? this.#pinned.lastModified;
  }

  #ask(url: string, validator: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const { additionalAuthorities, isVerified } = this.#order;
    const headers: Record<string, string> =
      validator === undefined ? {} : { range: `bytes=${this.#part.bytes}-`, 'if-range': validator };
    return this.#parts.source.ask({ url, headers, additionalAuthorities, isVerified, signal });
  }

  /** Reads the head of the answer; returns how long the whole file is, if that is told. */
  async #begin(url: string, answer: IncomingMessage, isResumed: boolean): Promise<number | undefined> {
    const { statusCode = 0, headers } = answer;
    if (statusCode === 416) await this.#startAnew(undefined);
    checkStatus(statusCode);
    if ((headers['content-encoding'] ?? 'identity') !== 'identity')
      throw new SourceFault(`it is sent as ${headers['content-encoding']}; switch that off at the server`);
    const fresh = validatorsOf(url, headers);
    if (statusCode === 206) {
      const range = contentRange(headers['content-range']);
      const isNext = isResumed && range.start === this.#part.bytes && range.total === this.#totalBytes;
      if (isNext && isSameFile(this.#pinned, fresh)) return range.total;
      await this.#startAnew(undefined);
      throw new Error('the file has changed while it came; it is fetched from the start');
    }
    const total = this.#checkedTotal(numberOf(headers['content-length']));
    await this.#startAnew(fresh, total);
    return total;
  }

  async #startAnew(pinned: PinnedSource | undefined, total?: number): Promise<void> {
    this.#pinned = pinned;
    this.#totalBytes = total;
    await this.#part.restart();
    if (pinned) await this.#progress.onSource(pinned, total);
  }

  #checkedTotal(total: number | undefined): number | undefined {
    if (total !== undefined && total > this.#order.maxBytes)
      throw new SourceFault(`it has ${total} bytes, more than the ${this.#order.maxBytes} that are allowed`);
    return total;
  }

  async #receive(answer: IncomingMessage, total: number | undefined, stall: StallGuard): Promise<void> {
    for await (const chunk of answer as AsyncIterable<Uint8Array>) {
      stall.touch();
      if (this.#part.bytes + chunk.length > (total ?? this.#order.maxBytes))
        throw new SourceFault(
          total === undefined
            ? `it has more than the ${this.#order.maxBytes} bytes that are allowed`
            : `more bytes come than the ${total} that were announced`,
        );
      await this.#part.append(chunk);
      this.#progress.onBytes(this.#part.bytes);
    }
    if (total !== undefined && this.#part.bytes < total)
      throw new Error(`it ended after ${this.#part.bytes} of ${total} bytes`);
  }
}

/** Ends what it guards when nothing comes for too long. */
class StallGuard implements Disposable {
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #stallMs: number;
  #timer: Disposable;

  constructor(clock: Clock, stallMs: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.signal = AbortSignal.any([outer, this.#abort.signal]);
    this.#timer = this.#start();
  }

  /** Why it ended it, if it did. */
  get reason(): Error | undefined {
    return this.#abort.signal.aborted ? toError(this.#abort.signal.reason) : undefined;
  }

  touch(): void {
    this.#timer.dispose();
    this.#timer = this.#start();
  }

  dispose(): void {
    this.#timer.dispose();
  }

  #start(): Disposable {
    return this.#clock.schedule(this.#stallMs, () =>
      this.#abort.abort(new Error(`nothing came for ${this.#stallMs / 1000} s`)),
    );
  }
}

function checkStatus(status: number): void {
  if (status === 200 || status === 206) return;
  const message = `the server answers ${status}`;
  const isLasting = status >= 400 && status < 500 && ![408, 416, 425, 429].includes(status);
  if (isLasting) throw new SourceFault(`${message}; look at the address and its rights`);
  throw new Error(message);
}

function validatorsOf(url: string, headers: IncomingMessage['headers']): PinnedSource {
  const { etag, 'last-modified': lastModified } = headers;
  return {
    url,
    // A weak one may be the same for other bytes.
    ...(etag === undefined || etag.startsWith('W/') ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
  };
}

/** Servers are asked to tell by themselves (If-Range); some do not. */
function isSameFile(pinned: PinnedSource | undefined, fresh: PinnedSource): boolean {
  return (
    (fresh.etag ?? pinned?.etag) === pinned?.etag &&
    (fresh.lastModified ?? pinned?.lastModified) === pinned?.lastModified
  );
}

function contentRange(header: string | undefined): { start: number; total: number | undefined } {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(header ?? '');
  return { start: match ? Number(match[1]) : -1, total: numberOf(match?.[2]) };
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
