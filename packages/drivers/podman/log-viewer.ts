import type { ContainerProcess, ProcessOutput, TerminalSize } from '@sheaf/ports';
import type { EndWatch } from './end-watch.ts';
import { type LogReading, logPlace, readLog } from './log-reader.ts';

export interface ViewParts {
  readonly reading: Pick<LogReading, 'directory' | 'clock'>;
  /** Ends with the viewer. */
  readonly end: EndWatch;
  readonly hasTerminal: boolean;
  readonly resize: (size: TerminalSize) => Promise<void>;
  readonly exitCode: (signal: AbortSignal) => Promise<number>;
}

/**
 * Looks on at what the first process of a container prints from now on, by its log. A connection to conmon would be noticed: its
 * end is the end of the container's input, whether it had one or not.
 */
export async function viewLog(parts: ViewParts): Promise<ContainerProcess> {
  const { end } = parts;
  const letGo = new AbortController();
  const from = await logPlace(parts.reading.directory, 0);
  const reading = { ...parts.reading, from, selection: { isFollowed: true }, hasEnded: () => end.hasEnded() };
  return {
    output: printed(readLog(reading, letGo.signal)),
    write: () => Promise.reject(new Error('the connection has no input: attach with one')),
    endInput: () => Promise.resolve(),
    resize: async (size) => {
      if (parts.hasTerminal) await parts.resize(size);
    },
    exitCode: (signal) => parts.exitCode(signal),
    dispose() {
      letGo.abort();
      end.dispose();
    },
  };
}

/** As it was before it was cut into lines. */
async function* printed(lines: ReturnType<typeof readLog>): AsyncGenerator<ProcessOutput> {
  for await (const { stream, content, isPart } of lines) {
    const bytes = isPart ? content : Buffer.concat([content, Buffer.from('\n')]);
    yield { stream, bytes };
  }
}
