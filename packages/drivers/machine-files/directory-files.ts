import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { badRequest } from '@sheaf/base';
import type { DiskFile, EnsureOptions, MachineFile, MachineFiles } from '@sheaf/ports';

const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/;

/** A directory with a directory for each machine; made when the first file is. */
export class DirectoryMachineFiles implements MachineFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async ensure(machineId: string, file: MachineFile, options: EnsureOptions): Promise<DiskFile> {
    const directory = this.#directoryOf(machineId);
    const path = join(directory, `${checked(file.name)}.${file.kind}`);
    if (!(await isAsWanted(path, file, options))) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await write(path, file, options.signal);
    }
    return { path, format: 'raw' };
  }

  async remove(machineId: string, signal: AbortSignal): Promise<void> {
    const directory = this.#directoryOf(machineId);
    signal.throwIfAborted();
    await rm(directory, { recursive: true, force: true });
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    const entries = await readdir(this.#root).catch(nothingThere);
    return (entries ?? []).sort();
  }

  #directoryOf(machineId: string): string {
    return join(this.#root, checked(machineId));
  }
}

/** Ids and names become file names. */
function checked(name: string): string {
  if (namePattern.test(name)) return name;
  throw badRequest(
    `${JSON.stringify(name)} cannot be the name of a file: use at most 100 letters, digits, dots, dashes and underscores`,
  );
}

async function isAsWanted(path: string, file: MachineFile, { isInUse }: EnsureOptions): Promise<boolean> {
  if (isInUse || file.kind === 'blank') return (await stat(path).catch(nothingThere)) !== undefined;
  const bytes = await readFile(path).catch(nothingThere);
  return bytes?.equals(file.bytes) === true;
}

/** A file has its name when it is whole. What a crash left behind is written over. */
async function write(path: string, file: MachineFile, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', 0o600);
  try {
    if (file.kind === 'seed') await handle.writeFile(file.bytes);
    else await handle.truncate(file.sizeBytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}

function nothingThere(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
