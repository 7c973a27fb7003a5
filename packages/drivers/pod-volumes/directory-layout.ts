import { realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { badRequest } from '@sheaf/base';

const idPattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,199}$/;
const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Where everything is below one directory. Ids and names become names of files: others are refused. */
export class DirectoryLayout {
  readonly root: string;
  readonly #pods: string;
  readonly #disks: string;

  constructor(root: string) {
    this.root = realPath(resolve(root));
    this.#pods = join(this.root, 'pods');
    this.#disks = join(this.root, 'disks');
  }

  pod(podUid: string): string {
    return join(this.#pods, checked(podUid, idPattern));
  }

  volumes(podUid: string): string {
    return join(this.pod(podUid), 'volumes');
  }

  volume(podUid: string, name: string): string {
    return join(this.volumes(podUid), checked(name, namePattern));
  }

  records(podUid: string): string {
    return join(this.pod(podUid), 'records');
  }

  messages(podUid: string): string {
    return join(this.pod(podUid), 'messages');
  }

  message(podUid: string, runId: string): string {
    return join(this.messages(podUid), checked(runId, idPattern));
  }

  disk(volumeId: string): string {
    return join(this.#disks, checked(volumeId, idPattern));
  }

  async podUids(): Promise<readonly string[]> {
    return (await namesIn(this.#pods)).filter((name) => idPattern.test(name));
  }

  async diskIds(): Promise<readonly string[]> {
    return (await namesIn(this.#disks)).filter((name) => idPattern.test(name));
  }
}

/** Without links on the way, as the kernel tells where something is mounted. What is not there yet keeps its name. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return join(realPath(dirname(path)), basename(path));
  }
}

/** Sorted; none, where there is no directory. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function checked(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name;
  throw badRequest(
    `${JSON.stringify(name)} cannot be the name of a file of a pod: use letters, digits and, between them, dashes`,
  );
}
