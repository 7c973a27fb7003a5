import { ItemQueue } from '@sheaf/base';
import type { ContainerProcess, ProcessOutput } from '@sheaf/ports';
import type { SimulatedProcess } from './simulated-process.ts';

export interface ConnectionOptions {
  readonly process: () => SimulatedProcess | undefined;
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
  /** Whether its own end ends the input. */
  readonly endsInput: boolean;
  readonly exitCode: () => number | undefined;
  readonly onDispose: () => void;
}

/** One of any number of connections to a simulated process. */
export class SimulatedConnection implements ContainerProcess {
  readonly #options: ConnectionOptions;
  readonly #queue = new ItemQueue<ProcessOutput>(() => undefined);
  readonly #ended = Promise.withResolvers<void>();
  #isDisposed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get output(): AsyncIterable<ProcessOutput> {
    return this.#queue.items();
  }

  print(stream: 'stdout' | 'stderr', text: string): void {
    const { hasTerminal } = this.#options;
    const shown = hasTerminal ? text.replaceAll('\n', '\r\n') : text;
    this.#queue.push({ stream: hasTerminal ? 'stdout' : stream, bytes: new TextEncoder().encode(shown) });
  }

  /** The process has ended. */
  end(): void {
    this.#queue.end();
    this.#ended.resolve();
  }

  write(bytes: Uint8Array): Promise<void> {
    if (!this.#options.hasInput)
      return Promise.reject(new Error('the process has no input: start it with one'));
    this.#options.process()?.type(new TextDecoder().decode(bytes));
    return Promise.resolve();
  }

  endInput(): Promise<void> {
    if (this.#options.endsInput) this.#options.process()?.endInput();
    return Promise.resolve();
  }

  resize(): Promise<void> {
    return Promise.resolve();
  }

  async exitCode(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    await this.#ended.promise;
    const code = this.#options.exitCode();
    if (code === undefined) throw new Error('how the process ended is not known');
    return code;
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#queue.end();
    this.#options.onDispose();
  }
}
