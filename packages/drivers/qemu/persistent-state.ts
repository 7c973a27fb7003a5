import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNames } from './device-names.ts';

/** What outlives a machine: EFI variables and the state of its TPM, each under a key. */
export class PersistentState {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The variables of a key, or of a machine without one; made from the template where there are none. */
  async ensureVariables(
    key: string | undefined,
    machineDirectory: string,
    template: string,
  ): Promise<string> {
    const directory = await this.#ensureDirectory(key, machineDirectory);
    const path = join(directory, fileNames.efiVariables);
    if (existsSync(path)) return path;
    const whole = `${path}.${randomUUID()}.new`;
    try {
      await copyFile(template, whole);
      await link(whole, path);
    } catch (error) {
      // Another life was faster, and its machine may hold the file open.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await rm(whole, { force: true });
    }
    return path;
  }

  async ensureTpmDirectory(key: string | undefined, machineDirectory: string): Promise<string> {
    const directory = join(await this.#ensureDirectory(key, machineDirectory), 'tpm-state');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return directory;
  }

  async forget(key: string): Promise<void> {
    await rm(this.#path(key), { recursive: true, force: true });
  }

  async #ensureDirectory(key: string | undefined, machineDirectory: string): Promise<string> {
    if (key === undefined) return machineDirectory;
    await mkdir(this.#path(key), { recursive: true, mode: 0o700 });
    return this.#path(key);
  }

  /** A key may contain anything; one that is no file name gets one. */
  #path(key: string): string {
    const isName = /^[a-z0-9][a-z0-9._-]{0,100}$/i.test(key);
    const name = isName ? key : `key-${createHash('sha256').update(key).digest('hex')}`;
    return join(this.#directory, name);
  }
}
