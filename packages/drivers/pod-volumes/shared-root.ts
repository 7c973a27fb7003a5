import { TaskQueue } from '../qemu/task-queue.ts';
import { type MountPoint, mount, mountAt, mountsBelow, mountTable, unmountAnyway } from './mount-table.ts';

/**
 * Programs that begin in a mount namespace of their own take copies of all mounts with them, and a disk is in use for as long as one
 * of them has it. Namespaces that follow this one let go of it when it is unmounted here, but only below a mount that is shared.
 * Where the directory is below none, it is made one while anything is mounted in it.
 */
export class SharedRoot {
  readonly #root: string;
  readonly #queue = new TaskQueue();
  /** Who mounts something now: it is not to be taken from under them. */
  #users = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** Carries out what mounts something below; the directory is shared meanwhile, and as long as the mount is there. */
  async during(task: () => Promise<void>): Promise<void> {
    this.#users++;
    try {
      await this.#queue.run(() => this.#share());
      await task();
    } finally {
      this.#users--;
    }
  }

  /** Once nothing is mounted below. It is a view of the directory: who still uses it has it until then. */
  async release(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#users > 0 || (await mountsBelow(this.#root)).length > 0) return;
      await unmountAnyway(this.#root);
    });
  }

  async #share(): Promise<void> {
    if ((await holderOf(this.#root))?.isShared) return;
    if (!(await mountAt(this.#root))) {
      // A mount on top would hide these.
      if ((await mountsBelow(this.#root)).length > 0) return;
      await mount('--bind', this.#root, this.#root);
    }
    await mount('--make-shared', this.#root);
  }
}

/** The mount that a path lies in. */
async function holderOf(path: string): Promise<MountPoint | undefined> {
  const around = (await mountTable()).filter(
    (each) => each.path === '/' || each.path === path || path.startsWith(`${each.path}/`),
  );
  return around.toSorted((a, b) => a.path.length - b.path.length).at(-1);
}
