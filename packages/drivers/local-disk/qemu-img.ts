import { stat, truncate } from 'node:fs/promises';
import { ProgramFailure, type ProgramRunner } from './program-runner.ts';

const shortWork = { memoryBytes: 2 * 1024 ** 3, processorSeconds: 60, timeoutMs: 60_000 };
/** Only the processor and memory are bounded: how long it takes is decided by the disk. */
const longWork = { memoryBytes: 4 * 1024 ** 3 };

/** What may be asked about a file that comes from outside: it may write nothing. */
const inspection = { memoryBytes: 1024 ** 3, processorSeconds: 60, fileBytes: 0, timeoutMs: 120_000 };

/** A file that is known to be of this format; QEMU never guesses. */
export interface NamedFormat {
  readonly path: string;
  readonly format: 'qcow2' | 'raw';
}

export interface Backing {
  /** A file name in the directory where the new file will be. */
  readonly name: string;
  readonly format: 'qcow2' | 'raw';
}

export interface Copy {
  readonly from: NamedFormat;
  readonly to: string;
  /** `full`: all of the target is taken from the file system. */
  readonly provisioning: 'thin' | 'full';
  readonly onPercent: (percent: number) => void;
}

/** The operations of `qemu-img` that are used here, each with its limits. */
export class QemuImg {
  readonly #runner: ProgramRunner;

  constructor(runner: ProgramRunner) {
    this.#runner = runner;
  }

  /** A new qcow2; what `backing` names is not opened. */
  async create(
    path: string,
    { bytes, backing, provisioning }: { bytes: number; backing?: Backing; provisioning?: 'thin' | 'full' },
    signal: AbortSignal,
  ): Promise<void> {
    const options = provisioning === 'full' ? ['-o', 'preallocation=falloc'] : [];
    const base = backing ? ['-u', '-b', backing.name, '-F', backing.format] : [];
    await this.#short(['create', '-q', '-f', 'qcow2', ...options, ...base, path, String(bytes)], signal);
  }

  /** Lets a qcow2 grow. `full`: the new part is taken from the file system. */
  async resize(
    path: string,
    { bytes, provisioning }: { bytes: number; provisioning: 'thin' | 'full' },
    signal: AbortSignal,
  ): Promise<void> {
    const options = provisioning === 'full' ? ['--preallocation=falloc'] : [];
    await this.#short(['resize', '-q', '-f', 'qcow2', ...options, path, String(bytes)], signal);
  }

  /** Copies all that can be read from `from`, its backing files included, into a qcow2 that stands alone. */
  async copy({ from, to, provisioning, onPercent }: Copy, signal: AbortSignal): Promise<void> {
    const options = provisioning === 'full' ? ['-o', 'preallocation=falloc'] : [];
    await this.#runner.run(
      {
        program: 'qemu-img',
        arguments: ['convert', '-p', '-f', from.format, '-O', 'qcow2', ...options, from.path, to],
        limits: longWork,
        onOutput: (text) => reportPercent(text, onPercent),
      },
      signal,
    );
  }

  /** What a copy of it as a qcow2 will take at most. */
  async measure(from: NamedFormat, signal: AbortSignal): Promise<number> {
    const words = ['measure', '--output=json', '-O', 'qcow2', '-f', from.format, from.path];
    const { required } = JSON.parse(await this.#short(words, signal)) as { required: number };
    return required;
  }

  /** Writes what `path` has into its backing file; `path` stays as it is. Again after a crash: nothing is lost. */
  async commit(path: string, signal: AbortSignal): Promise<void> {
    const call = { program: 'qemu-img', arguments: ['commit', '-q', '-d', '-f', 'qcow2', path] };
    await this.#runner.run({ ...call, limits: longWork }, signal);
  }

  /** Gives back clusters that an interrupted write has left without a use. */
  async reclaim(path: string, signal: AbortSignal): Promise<void> {
    const call = { program: 'qemu-img', arguments: ['check', '-q', '-r', 'leaks', '-f', 'qcow2', path] };
    await this.#runner.run({ ...call, limits: longWork }, signal);
  }

  /** True while another process may write to it. */
  async isInUse(path: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#short(['info', '-f', 'qcow2', path], signal);
      return false;
    } catch (error) {
      if (isLockFailure(error)) return true;
      throw error;
    }
  }

  /**
   * Makes a file ready to grow in full again after a growth that was interrupted: that may have marked clusters beyond the end
   * as used, which QEMU looks at only within the file, and then refuses to take (seen in 7.2, an assertion).
   */
  async forgetGrowth(path: string, moreBytes: number, signal: AbortSignal): Promise<void> {
    const { size } = await stat(path);
    // Room for what was to be added, and for its tables.
    await truncate(path, size + moreBytes * 2 + 64 * 1024 * 1024);
    await this.reclaim(path, signal);
    const call = { program: 'qemu-img', arguments: ['check', '--output=json', '-f', 'qcow2', path] };
    const found = JSON.parse(await this.#runner.run({ ...call, limits: longWork }, signal)) as {
      'image-end-offset': number;
    };
    await truncate(path, found['image-end-offset']);
  }

  /** A second opinion on a qcow2 from outside whose header has been looked at. @throws Error: what is wrong with it */
  async inspect(path: string, signal: AbortSignal): Promise<void> {
    const text = await this.#inspect(['info', '--output=json', '-f', 'qcow2', path], signal);
    const info = JSON.parse(text) as QemuImgInfo;
    const { data } = info['format-specific'] ?? {};
    if (info['backing-filename'] !== undefined || data?.['data-file'] !== undefined)
      throw new Error('it names another file');
    if (info.encrypted || data?.encrypt !== undefined) throw new Error('it is encrypted');
    await this.#inspect(['check', '-q', '-f', 'qcow2', path], signal).catch((error: unknown) => {
      // 3: space is wasted, which does no harm.
      if (!(error instanceof ProgramFailure) || error.exitCode !== 3) throw error;
    });
  }

  async #short(words: readonly string[], signal: AbortSignal): Promise<string> {
    return this.#runner.run({ program: 'qemu-img', arguments: words, limits: shortWork }, signal);
  }

  async #inspect(words: readonly string[], signal: AbortSignal): Promise<string> {
    return this.#runner.run({ program: 'qemu-img', arguments: words, limits: inspection }, signal);
  }
}

interface QemuImgInfo {
  readonly 'backing-filename'?: string;
  readonly encrypted?: boolean;
  readonly 'format-specific'?: {
    readonly data?: { readonly 'data-file'?: string; readonly encrypt?: unknown };
  };
}

/** Another process has the file open in a way that does not go together with this. */
export function isLockFailure(error: unknown): boolean {
  return (
    error instanceof ProgramFailure && /Failed to (get|lock)\b.*|Is another process using/.test(error.words)
  );
}

/** The program found no room on the file system. */
export function isFullFailure(error: unknown): boolean {
  return (
    error instanceof ProgramFailure && /No space left on device|File too large|Disk quota/.test(error.words)
  );
}

function reportPercent(text: string, onPercent: (percent: number) => void): void {
  const last = text.match(/\((\d+)\.\d+\/100%\)/g)?.at(-1);
  if (last) onPercent(Math.min(99, Number.parseInt(last.slice(1), 10)));
}
