import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Keys and certificates as files of mode 0600 in one directory (made with mode 0700). A write goes to a new file, is
 * flushed to disk, and then takes the old one's name, so that a crash leaves the old or the new text.
 */
export class DirectoryCertificateFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The file's text; `undefined` if there is none. */
  async read(name: string): Promise<string | undefined> {
    try {
      return await readFile(this.#path(name), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(name: string, text: string): Promise<void> {
    const path = this.#path(name);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const temporary = `${path}.new`;
    // A file left by a crash may have another mode; it must not be reused.
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  }

  #path(name: string): string {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
      throw new Error(`${JSON.stringify(name)} is not a file name`);
    return join(this.#directory, name);
  }
}
