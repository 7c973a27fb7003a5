import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodVolumeSpec } from '@sheaf/ports';
import { type DirectoryLayout, isMissing, namesIn } from './directory-layout.ts';

const suffix = '.json';

/** What is to be taken away again. Written before anything is made. */
export interface VolumeRecord {
  readonly name: string;
  readonly kind: PodVolumeSpec['kind'];
  readonly medium?: 'disk' | 'memory';
  readonly hostPath: string;
  readonly volumeId?: string;
}

/** A small file for each volume of each pod. */
export class VolumeRecords {
  readonly #layout: DirectoryLayout;

  constructor(layout: DirectoryLayout) {
    this.#layout = layout;
  }

  async write(podUid: string, record: VolumeRecord): Promise<void> {
    const directory = this.#layout.records(podUid);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `${record.name}${suffix}`);
    await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  /** In the order of their names. */
  async list(podUid: string): Promise<readonly VolumeRecord[]> {
    const directory = this.#layout.records(podUid);
    const names = (await namesIn(directory)).filter((name) => name.endsWith(suffix));
    const found = await Promise.all(names.map((name) => read(join(directory, name))));
    return found
      .filter((record) => record !== undefined)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Ids of the disks that any pod uses. */
  async usedDisks(exceptPodUid?: string): Promise<ReadonlySet<string>> {
    const pods = (await this.#layout.podUids()).filter((uid) => uid !== exceptPodUid);
    const records = await Promise.all(pods.map((uid) => this.list(uid)));
    return new Set(records.flat().flatMap(({ volumeId }) => volumeId ?? []));
  }
}

/** A loss of power may leave one that is empty: nothing was made then that has outlived it. */
async function read(path: string): Promise<VolumeRecord | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as VolumeRecord;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
