import type { Disposable } from '@sheaf/base';

export interface ProcessOutput {
  /** A terminal has only `stdout`. */
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
}

/** In characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface AttachOrder {
  /** Without it the connection only looks on. */
  readonly hasInput: boolean;
}

export interface ProcessOrder {
  readonly command: readonly string[];
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
}

/**
 * A connection to a process in a container: one that was started for it, or the container's own.
 *
 * `dispose` lets go. A process that was started for the connection is ended then; the container's own runs on.
 */
export interface ContainerProcess extends Disposable {
  /** Ends with the process. Read once. Nothing is taken in while nobody reads. */
  readonly output: AsyncIterable<ProcessOutput>;
  /** Resolves when more may be written. @throws Error when it has no input or is over */
  write(bytes: Uint8Array): Promise<void>;
  /** Its input is at its end after what has been written. */
  endInput(): Promise<void>;
  /** Nothing happens where there is no terminal. */
  resize(size: TerminalSize): Promise<void>;
  /** The exit code of the process once it has ended; rejects if that cannot be found out. */
  exitCode(signal: AbortSignal): Promise<number>;
}
