import { type ChildProcess, spawn } from 'node:child_process';
import type { DiskFile } from '@sheaf/ports';
import { cellBytes, type OpenDisk } from '@sheaf/ports/disk-bench.fixture';

/** A file as QEMU has it open, with its locks. */
export async function openDisk(file: DiskFile): Promise<OpenDisk> {
  const session = new QemuIo(file);
  await session.ask('length');
  return {
    async write(cell, value) {
      const answer = await session.ask(`write -P ${value} ${cell * cellBytes} ${cellBytes}`);
      if (!answer.includes('wrote')) throw new Error(`${file.path}: ${answer}`);
    },
    async read(cell) {
      const answer = await session.ask(`read -v ${cell * cellBytes} 1`);
      const byte = /^[0-9a-f]{8}: {1,2}([0-9a-f]{2})/m.exec(answer)?.[1];
      if (byte === undefined) throw new Error(`${file.path}: ${answer}`);
      return Number.parseInt(byte, 16);
    },
    close: () => session.close(),
  };
}

class QemuIo {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #output = '';
  #onOutput = (): void => undefined;
  #isClosed = false;

  constructor({ path, format }: DiskFile) {
    this.#child = spawn('qemu-io', ['-f', format, path], { stdio: 'pipe' });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#onOutput();
      });
    this.#closed = new Promise((resolve) => this.#child.on('close', resolve));
    void this.#closed.then(() => {
      this.#isClosed = true;
      this.#onOutput();
    });
  }

  /** What it says until it asks for the next command. */
  async ask(command: string): Promise<string> {
    await this.#prompt();
    this.#output = '';
    this.#child.stdin?.write(`${command}\n`);
    return this.#prompt();
  }

  async close(): Promise<void> {
    this.#child.stdin?.end('quit\n');
    await this.#closed;
  }

  #prompt(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#onOutput = () => {
        if (this.#output.trimEnd().endsWith('qemu-io>')) resolve(this.#output);
        else if (this.#isClosed) reject(new Error(this.#output));
      };
      this.#onOutput();
    });
  }
}
