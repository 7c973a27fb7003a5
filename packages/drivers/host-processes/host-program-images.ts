import { type Disposable, disposable } from '@sheaf/base';
import type { ContainerImage, ContainerImages, ContainerSpace, PullOrder, PullProgress } from '@sheaf/ports';
import { imageOf } from './host-processes.ts';
import type { HostProgram } from './host-program.ts';
import { refusals } from './refusals.ts';

/** The programs of the host, as images that are always there and come from nowhere. */
export class HostProgramImages implements ContainerImages {
  readonly #images: readonly ContainerImage[];

  constructor(programs: readonly HostProgram[]) {
    this.#images = programs.map(imageOf);
  }

  list(): Promise<readonly ContainerImage[]> {
    return Promise.resolve(this.#images);
  }

  find(reference: string): Promise<ContainerImage | undefined> {
    return Promise.resolve(this.#images.find(({ id, tags }) => id === reference || tags.includes(reference)));
  }

  onPull(): Disposable {
    return disposable(() => undefined);
  }

  async pull({ reference }: PullOrder): Promise<PullProgress> {
    const image = await this.find(reference);
    if (image) return { state: 'done', image };
    const names = this.#images.flatMap(({ tags }) => tags).join(', ');
    const message = `${reference} is no program of this host; there are: ${names}`;
    return { state: 'failed', message, nature: 'fault' };
  }

  cancelPull(): Promise<void> {
    return Promise.resolve();
  }

  load(): Promise<readonly ContainerImage[]> {
    return Promise.reject(refusals.inside('an archive'));
  }

  remove(reference: string): Promise<void> {
    return Promise.reject(refusals.noImage(reference));
  }

  space(): Promise<ContainerSpace> {
    return Promise.resolve({ imageBytes: 0, containerBytes: 0, freeBytes: 0, totalBytes: 0 });
  }
}
