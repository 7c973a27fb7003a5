import { dirname } from 'node:path/posix';
import { SourceFault } from '../http-source.ts';
import { insidePath, readTar, type TarEntry } from './tar-reader.ts';

const usualDirectory = 'disk';
const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

/** Writes the bytes of the disk where it is wanted; called once. */
export type WriteDisk = (content: AsyncIterable<Uint8Array>, bytes: number) => Promise<void>;

/**
 * Finds the disk in the layers of an image as a container would see it: what an upper layer has or hides is not taken from a lower
 * one. Links are never followed.
 */
export class DiskFinder {
  readonly #wanted: string | undefined;
  readonly #write: WriteDisk;
  /** Paths that upper layers have or hide, with everything below them. */
  readonly #covered = new Set<string>();
  #found: string | undefined;

  /** `path`: absent for the one file in `/disk`. @throws SourceFault */
  constructor(path: string | undefined, write: WriteDisk) {
    this.#wanted = path === undefined ? undefined : insidePath(path);
    this.#write = write;
    if (path !== undefined && (this.#wanted ?? '') === '')
      throw new SourceFault(`${JSON.stringify(path)} is no place in an image; name a file`);
  }

  /** The next layer below. @throws SourceFault */
  async addLayer(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const covered = new Set<string>();
    for await (const entry of readTar(chunks)) await this.#look(entry, covered);
    for (const path of covered) this.#covered.add(path);
  }

  /** Where it was. @throws SourceFault when there is none */
  get found(): string {
    if (this.#found !== undefined) return this.#found;
    throw new SourceFault(
      this.#wanted === undefined
        ? 'there is no file in its folder /disk; use an image that is made as a container disk, or name the path of the disk in it'
        : `there is no /${this.#wanted} in it; name the path of the disk in it`,
    );
  }

  async #look(entry: TarEntry, covered: Set<string>): Promise<void> {
    const { path } = entry;
    if (path === undefined || path === '') return;
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name.startsWith(whiteout)) {
      covered.add(hiddenBy(path, name));
      return;
    }
    if (this.#isCovered(path)) return;
    if (entry.kind === 'link' && this.#isAbove(path))
      throw new SourceFault(`/${path} in it is a link, which is not followed; put the disk itself there`);
    if (!this.#isWanted(path) || entry.kind === 'directory') return;
    if (covered.has(path)) throw new SourceFault(`/${path} is twice in one layer of it`);
    covered.add(path);
    await this.#take(path, entry);
  }

  async #take(path: string, { kind, bytes, content }: TarEntry): Promise<void> {
    if (kind === 'sparse')
      throw new SourceFault(`/${path} in it is kept in pieces; build the image without sparse files`);
    if (kind !== 'file') throw new SourceFault(`/${path} in it is no plain file; put the disk itself there`);
    if (this.#found !== undefined)
      throw new SourceFault(
        `more than one file is in its folder /disk: ${this.#found} and ${path}; name the path of the disk in it`,
      );
    this.#found = path;
    await this.#write(content(), bytes);
  }

  #isWanted(path: string): boolean {
    return this.#wanted === undefined ? dirname(path) === usualDirectory : path === this.#wanted;
  }

  /** The disk would be found through it. */
  #isAbove(path: string): boolean {
    return path === this.#wanted || `${this.#wanted ?? `${usualDirectory}/`}`.startsWith(`${path}/`);
  }

  #isCovered(path: string): boolean {
    if (this.#covered.has('.')) return true;
    for (let each = path; each !== '.' && each !== '/'; each = dirname(each))
      if (this.#covered.has(each)) return true;
    return false;
  }
}

/** What the mark of a layer hides of those below it. */
function hiddenBy(path: string, name: string): string {
  const directory = dirname(path);
  if (name === opaque) return directory;
  const hidden = name.slice(whiteout.length);
  return directory === '.' ? hidden : `${directory}/${hidden}`;
}
