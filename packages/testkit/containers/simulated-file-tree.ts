import { posix } from 'node:path';
import { badRequest } from '@sheaf/base';
import type { ContainerMount } from '@sheaf/ports';

/** Files of a simulated host: texts, directories and symbolic links by path. */
export class SimulatedFileTree {
  readonly #files = new Map<string, string>();
  readonly #directories = new Set<string>();
  readonly #links = new Map<string, string>();

  makeDirectory(path: string): void {
    this.#directories.add(path);
  }

  write(path: string, text: string): void {
    this.#files.set(path, text);
  }

  link(path: string, target: string): void {
    this.#links.set(path, target);
  }

  /** `undefined` where there is none. */
  read(path: string): string | undefined {
    return this.#files.get(path);
  }

  has(path: string): boolean {
    return this.#files.has(path) || this.#directories.has(path);
  }

  clear(): void {
    this.#files.clear();
    this.#directories.clear();
    this.#links.clear();
  }

  /** The place that a mount comes to; a part that is not there is made. @throws StatusError as a driver does */
  resolve({ hostPath, subPath }: ContainerMount): string {
    if (!this.has(hostPath)) throw badRequest(`there is no ${hostPath} on the host: make it first`);
    if (subPath === undefined) return hostPath;
    let place = hostPath;
    for (const part of subPath.split('/')) {
      const next = posix.join(place, part);
      place = posix.resolve(place, this.#links.get(next) ?? next);
      if (subPath.startsWith('/') || (place !== hostPath && !place.startsWith(`${hostPath}/`)))
        throw badRequest(`"${subPath}" leads out of ${hostPath}: name a path below it`);
    }
    if (!this.has(place)) this.makeDirectory(place);
    return place;
  }
}
