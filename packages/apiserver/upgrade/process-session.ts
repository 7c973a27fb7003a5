import type { ProcessAnswer, RemoteProcess } from '@sheaf/api';
import { internalError, StatusError, toError } from '@sheaf/base';

/** The client's side of a process, whatever carries its streams. */
export interface ClientStreams {
  /** Ends when the client says that nothing more comes. */
  readonly input: AsyncIterable<Uint8Array>;
  /** `{"Width":80,"Height":24}`, one after the other, as they come. */
  readonly sizes: AsyncIterable<Uint8Array>;
  /** Resolves when more may be written. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** How it ended; nothing is written afterwards. `undefined`: well. */
  tell(outcome: StatusError | undefined): Promise<void>;
}

/** Joins a process with its client, until the process ends or the client is gone: then `signal` aborts. Never throws. */
export async function joinProcess(
  answer: ProcessAnswer,
  client: ClientStreams,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.tell(await outcomeOf(answer, client, signal));
  } catch {
    // The client is gone, and cannot be told.
  }
}

async function outcomeOf(
  answer: ProcessAnswer,
  client: ClientStreams,
  signal: AbortSignal,
): Promise<StatusError | undefined> {
  let process: RemoteProcess | undefined;
  const letGo = (): void => process?.dispose();
  signal.addEventListener('abort', letGo, { once: true });
  try {
    signal.throwIfAborted();
    process = await answer.open(signal);
    signal.throwIfAborted();
    void takeInput(process, client.input, answer.streams.stdin);
    void takeSizes(process, client.sizes, answer.streams.terminal);
    for await (const { stream, bytes } of process.output)
      if (answer.streams[stream]) await client.write(stream, bytes);
    return await process.outcome(signal);
  } catch (error) {
    return StatusError.is(error) ? error : internalError(toError(error).message, error);
  } finally {
    signal.removeEventListener('abort', letGo);
    letGo();
  }
}

/** What a process does not take any more is thrown away, so that the client can go on saying other things. */
async function takeInput(
  process: RemoteProcess,
  input: AsyncIterable<Uint8Array>,
  isWanted: boolean,
): Promise<void> {
  let isTaken = isWanted;
  try {
    for await (const bytes of input) {
      if (isTaken)
        isTaken = await process.write(bytes).then(
          () => true,
          () => false,
        );
    }
    if (isTaken) await process.endInput();
  } catch {
    // The client has broken off; so has its signal, and the process is let go of.
  }
}

const longestSize = 4096;

async function takeSizes(
  process: RemoteProcess,
  sizes: AsyncIterable<Uint8Array>,
  isWanted: boolean,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const bytes of sizes) {
      rest += decoder.decode(bytes, { stream: true });
      const texts = rest.match(/\{[^{}]*\}/g) ?? [];
      if (texts.length > 0) rest = rest.slice(rest.lastIndexOf('}') + 1);
      rest = rest.slice(-longestSize);
      // Only the last one counts. A terminal that cannot be resized goes on as it is.
      const size = sizeOf(texts.at(-1));
      if (size && isWanted) await process.resize(size).catch(() => undefined);
    }
  } catch {
    // As above.
  }
}

const mostCharacters = 65_535;

/** `undefined` for what is no size of a terminal. */
function sizeOf(text: string | undefined): { columns: number; rows: number } | undefined {
  if (text === undefined) return undefined;
  try {
    const { Width: columns, Height: rows } = JSON.parse(text) as { Width?: unknown; Height?: unknown };
    const isNumber = (value: unknown): value is number =>
      Number.isInteger(value) && Number(value) > 0 && Number(value) <= mostCharacters;
    return isNumber(columns) && isNumber(rows) ? { columns, rows } : undefined;
  } catch {
    return undefined;
  }
}
