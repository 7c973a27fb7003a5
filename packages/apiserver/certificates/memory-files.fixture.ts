import type { CertificateFiles } from './certificate-files.ts';

/** Files in memory, for tests. */
export class MemoryFiles implements CertificateFiles {
  readonly texts = new Map<string, string>();

  async read(name: string): Promise<string | undefined> {
    return this.texts.get(name);
  }

  async write(name: string, text: string): Promise<void> {
    this.texts.set(name, text);
  }
}
