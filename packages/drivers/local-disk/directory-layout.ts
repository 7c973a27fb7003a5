import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { badRequest } from '@sheaf/base';

const idPattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,79}$/;

/** Where everything is. All of it is readable by its owner only. */
export class DirectoryLayout {
  readonly root: string;
  /** The files that hold data. Their names never say more than whom they were made for; records say what they are. */
  readonly layers: string;
  /** What comes in from outside and has not been verified. */
  readonly incoming: string;
  /** Unfinished files of this life of the process; whatever an earlier one left is removed at the start. */
  readonly work: string;
  /** The memory of machines. */
  readonly memories: string;

  constructor(root: string) {
    this.root = root;
    this.layers = join(root, 'layers');
    this.incoming = join(root, 'incoming');
    this.work = join(root, 'work');
    this.memories = join(root, 'memory-files');
  }

  async prepareRoot(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
  }

  /** Only when nobody else works in it. */
  async prepare(): Promise<void> {
    await rm(this.work, { recursive: true, force: true });
    for (const directory of [this.layers, this.incoming, this.work, this.memories])
      await mkdir(directory, { recursive: true, mode: 0o700 });
  }

  records(kind: 'volumes' | 'snapshots' | 'images' | 'containers' | 'memories'): string {
    return join(this.root, kind);
  }

  layer(name: string): string {
    return join(this.layers, name);
  }

  memory(id: string): string {
    return join(this.memories, id);
  }

  part(imageId: string): string {
    return join(this.incoming, imageId);
  }

  /** Names in `directory`, sorted. */
  async names(directory: string): Promise<string[]> {
    return (await readdir(directory)).sort();
  }
}

/** Ids become file names. @throws StatusError */
export function checkId(id: string): void {
  if (!idPattern.test(id))
    throw badRequest(`"${id}" is no id: use at most 80 letters, digits, dots, dashes and underscores`);
}
