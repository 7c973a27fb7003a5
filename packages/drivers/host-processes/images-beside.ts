import { type Disposable, disposable } from '@sheaf/base';
import type { ContainerImage, ContainerImages, ContainerSpace, PullOrder, PullProgress } from '@sheaf/ports';
import { hostProgramRegistry } from '@sheaf/ports';

/** Images, and programs of the host that are named like images. */
export class ImagesBeside implements ContainerImages {
  readonly #images: ContainerImages;
  readonly #programs: ContainerImages;

  constructor({
    images,
    programs,
  }: { readonly images: ContainerImages; readonly programs: ContainerImages }) {
    this.#images = images;
    this.#programs = programs;
  }

  async list(signal: AbortSignal): Promise<readonly ContainerImage[]> {
    return [...(await this.#images.list(signal)), ...(await this.#programs.list(signal))];
  }

  find(reference: string, signal: AbortSignal): Promise<ContainerImage | undefined> {
    return this.#of(reference).find(reference, signal);
  }

  onPull(listener: (orderId: string) => void): Disposable {
    const both = [this.#images.onPull(listener), this.#programs.onPull(listener)];
    return disposable(() => {
      for (const each of both) each.dispose();
    });
  }

  pull(order: PullOrder, signal: AbortSignal): Promise<PullProgress> {
    return this.#of(order.reference).pull(order, signal);
  }

  cancelPull(orderId: string, signal: AbortSignal): Promise<void> {
    return this.#images.cancelPull(orderId, signal);
  }

  load(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<readonly ContainerImage[]> {
    return this.#images.load(archive, signal);
  }

  remove(reference: string, signal: AbortSignal): Promise<void> {
    return this.#of(reference).remove(reference, signal);
  }

  space(signal: AbortSignal): Promise<ContainerSpace> {
    return this.#images.space(signal);
  }

  #of(reference: string): ContainerImages {
    return reference.startsWith(hostProgramRegistry) ? this.#programs : this.#images;
  }
}
