import { existsSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import type { Disposable } from '@sheaf/base';
import { chainNames } from './chain-names.ts';
import type { SavedTables } from './rule-text.ts';

/** Says to other Sheafs of this host that somebody looks after the rules of a mark: a name without a file, which ends with the process. */
export class RuleOwner implements Disposable {
  readonly #mark: string;
  #server: Server | undefined;

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** A name that is taken says the same. */
  async claim(): Promise<void> {
    if (this.#server) return;
    const server = createServer((socket) => socket.destroy());
    this.#server = server;
    await new Promise<void>((resolve) => {
      server.once('error', () => resolve());
      server.listen({ path: nameOf(this.#mark) }, resolve);
    });
    server.unref();
  }

  dispose(): void {
    this.#server?.close();
  }
}

/** Marks of rules that nobody looks after and no pod uses: their Sheaf was killed, and its pods are gone. */
export async function orphanedMarks(saved: SavedTables): Promise<readonly string[]> {
  const lines = [...saved.nat, ...saved.filter];
  const marks = new Set(lines.flatMap((line) => /SHEAF-([0-9a-f]{10})-/.exec(line)?.[1] ?? []));
  const orphaned: string[] = [];
  for (const mark of marks) if (!hasBridge(lines, mark) && !(await isLookedAfter(mark))) orphaned.push(mark);
  return orphaned;
}

function hasBridge(lines: readonly string[], mark: string): boolean {
  const jump = new RegExp(`^-A PREROUTING -i (\\S+) -j ${chainNames(mark).inside}$`);
  const bridges = lines.flatMap((line) => jump.exec(line)?.[1] ?? []);
  return bridges.some((name) => existsSync(`/sys/class/net/${name}`));
}

function isLookedAfter(mark: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: nameOf(mark) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Anything but "nobody listens" is no reason to take something away.
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

function nameOf(mark: string): string {
  return `\0sheaf-rules-${mark}`;
}
