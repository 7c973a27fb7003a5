import { badRequest } from '@sheaf/base';
import type { DiskFile, EnsureOptions, MachineFile, MachineFiles } from '@sheaf/ports';

const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/;
const directory = '/simulated/machine-files';

/** Files of machines in memory. It passes the contract suite of the port. */
export class SimulatedMachineFiles implements MachineFiles {
  /** By path; what a life of a program leaves behind. */
  readonly contents = new Map<string, Uint8Array>();

  async ensure(machineId: string, file: MachineFile, { isInUse, signal }: EnsureOptions): Promise<DiskFile> {
    const path = `${directoryOf(machineId)}/${checked(file.name)}.${file.kind}`;
    signal.throwIfAborted();
    await Promise.resolve();
    const isKept = this.contents.has(path) && (isInUse || file.kind === 'blank');
    if (!isKept) this.contents.set(path, file.kind === 'seed' ? file.bytes : new Uint8Array(file.sizeBytes));
    return { path, format: 'raw' };
  }

  async remove(machineId: string, signal: AbortSignal): Promise<void> {
    const prefix = `${directoryOf(machineId)}/`;
    signal.throwIfAborted();
    await Promise.resolve();
    for (const path of this.contents.keys()) if (path.startsWith(prefix)) this.contents.delete(path);
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    return Promise.resolve(this.machineIds());
  }

  /** The machines that have files, sorted. */
  machineIds(): readonly string[] {
    const ids = [...this.contents.keys()].map((path) => path.split('/').at(-2) ?? '');
    return [...new Set(ids)].toSorted();
  }
}

function directoryOf(machineId: string): string {
  return `${directory}/${checked(machineId)}`;
}

/** Ids and names would become file names. */
function checked(name: string): string {
  if (namePattern.test(name)) return name;
  throw badRequest(
    `${JSON.stringify(name)} cannot be the name of a file: use at most 100 letters, digits, dots, dashes and underscores`,
  );
}
