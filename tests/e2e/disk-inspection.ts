import assert from 'node:assert/strict';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProgramResult, runProgram } from '../program.ts';
import { at, type Installation } from './installation.ts';

const sectorBytes = 512;
const partitionTable = 446;
const partitionBytes = 16;

/** The file system on the second partition of a guest's disk, looked at from outside. */
export class DiskInspection {
  readonly #path: string;
  readonly #offset: number;

  private constructor(path: string, offset: number) {
    this.#path = path;
    this.#offset = offset;
  }

  /** Of the disk on a claim that no machine writes to. */
  static async ofClaim(sheaf: Installation, claimName: string): Promise<DiskInspection> {
    const claim = await sheaf.find('pvc', claimName);
    const volume = await sheaf.find('pv', String(at(claim, 'spec', 'volumeName')));
    const folder = join(sheaf.directory, 'volumes');
    const record = join(folder, 'volumes', `${String(at(volume, 'spec', 'csi', 'volumeHandle'))}.json`);
    const top = String(at(JSON.parse(await readFile(record, 'utf8')), 'top'));
    const path = join(sheaf.directory, 'inspected.raw');
    const { code, err } = await runProgram('qemu-img', [
      'convert',
      '-O',
      'raw',
      join(folder, 'layers', top),
      path,
    ]);
    assert.equal(code, 0, err);
    return new DiskInspection(path, await secondPartition(path));
  }

  /** What fsck has to say; nothing is repaired. */
  check(): Promise<ProgramResult> {
    return this.#tool('e2fsck', '-fn', this.#place());
  }

  /** True if the file system was cut off: its journal holds what is not in its place yet. */
  async needsRecovery(): Promise<boolean> {
    const { out } = await this.#tool('dumpe2fs', '-h', this.#place());
    assert.match(out, /Filesystem features:/);
    return /needs_recovery/.test(out);
  }

  async read(file: string): Promise<string> {
    const { out } = await this.#tool('debugfs', '-R', `cat ${file}`, this.#place());
    return out;
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  #place(): string {
    return `${this.#path}?offset=${this.#offset}`;
  }

  #tool(program: string, ...args: readonly string[]): Promise<ProgramResult> {
    const script = 'PATH=$PATH:/usr/sbin:/sbin; exec "$0" "$@"';
    return runProgram('sh', ['-c', script, program, ...args]);
  }
}

async function secondPartition(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(sectorBytes), 0, sectorBytes, 0);
    return buffer.readUInt32LE(partitionTable + partitionBytes + 8) * sectorBytes;
  } finally {
    await file.close();
  }
}
