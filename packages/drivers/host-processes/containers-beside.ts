import { type ByteStream, type Disposable, disposable } from '@sheaf/base';
import type {
  AttachOrder,
  ContainerCapabilities,
  ContainerObservation,
  ContainerProcess,
  ContainerSpec,
  Containers,
  ContainerUsage,
  LogLine,
  LogSelection,
  ProcessOrder,
  SandboxObservation,
  SandboxSpec,
} from '@sheaf/ports';

export interface ContainersBesideOptions {
  readonly images: Containers;
  readonly programs: Containers;
}

/** Containers of images and programs of the host behind one port. Each sandbox is of one sort, and so is what is in it. */
export class ContainersBeside implements Containers {
  readonly #images: Containers;
  readonly #programs: Containers;
  readonly #both: readonly Containers[];

  constructor({ images, programs }: ContainersBesideOptions) {
    this.#images = images;
    this.#programs = programs;
    this.#both = [images, programs];
  }

  /** Those of images: programs need nothing that they have not. */
  capabilities(): ContainerCapabilities {
    return this.#images.capabilities();
  }

  async probe(signal: AbortSignal): Promise<ContainerCapabilities> {
    await this.#programs.probe(signal);
    return this.#images.probe(signal);
  }

  onChange(listener: (sandboxId: string) => void): Disposable {
    const both = [this.#images.onChange(listener), this.#programs.onChange(listener)];
    return disposable(() => {
      for (const each of both) each.dispose();
    });
  }

  dispose(): void {
    this.#programs.dispose();
    this.#images.dispose();
  }

  async listSandboxes(signal: AbortSignal): Promise<readonly SandboxObservation[]> {
    const lists = await Promise.all(this.#both.map((each) => each.listSandboxes(signal)));
    return lists.flat();
  }

  async findSandbox(id: string, signal: AbortSignal): Promise<SandboxObservation | undefined> {
    return (await this.#programs.findSandbox(id, signal)) ?? this.#images.findSandbox(id, signal);
  }

  startSandbox(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxObservation> {
    return (spec.isForPrograms ? this.#programs : this.#images).startSandbox(spec, signal);
  }

  async endSandbox(id: string, signal: AbortSignal): Promise<void> {
    await (await this.#ofSandbox(id, signal)).endSandbox(id, signal);
  }

  async removeSandbox(id: string, signal: AbortSignal): Promise<void> {
    await (await this.#ofSandbox(id, signal)).removeSandbox(id, signal);
  }

  async listContainers(signal: AbortSignal): Promise<readonly ContainerObservation[]> {
    const lists = await Promise.all(this.#both.map((each) => each.listContainers(signal)));
    return lists.flat().toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  async findContainer(id: string, signal: AbortSignal): Promise<ContainerObservation | undefined> {
    return (await this.#programs.findContainer(id, signal)) ?? this.#images.findContainer(id, signal);
  }

  async startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<ContainerObservation> {
    return (await this.#ofSandbox(spec.sandboxId, signal)).startContainer(spec, signal);
  }

  async stopContainer(id: string, options: { readonly graceMs: number }, signal: AbortSignal): Promise<void> {
    await (await this.#ofContainer(id, signal)).stopContainer(id, options, signal);
  }

  async removeContainer(id: string, signal: AbortSignal): Promise<void> {
    await (await this.#ofContainer(id, signal)).removeContainer(id, signal);
  }

  /** The log outlives its container, so both are asked: the host's programs cost no process to ask. */
  async *readLog(id: string, selection: LogSelection, signal: AbortSignal): AsyncIterable<LogLine> {
    const owner = (await this.#hasLog(id, signal)) ? this.#programs : this.#images;
    yield* owner.readLog(id, selection, signal);
  }

  async removeLog(id: string, signal: AbortSignal): Promise<void> {
    await ((await this.#hasLog(id, signal)) ? this.#programs : this.#images).removeLog(id, signal);
  }

  async execute(id: string, order: ProcessOrder, signal: AbortSignal): Promise<ContainerProcess> {
    return (await this.#ofContainer(id, signal)).execute(id, order, signal);
  }

  async attach(id: string, order: AttachOrder, signal: AbortSignal): Promise<ContainerProcess> {
    return (await this.#ofContainer(id, signal)).attach(id, order, signal);
  }

  async openPort(
    sandboxId: string,
    target: { readonly port: number },
    signal: AbortSignal,
  ): Promise<ByteStream> {
    return (await this.#ofSandbox(sandboxId, signal)).openPort(sandboxId, target, signal);
  }

  async readUsage(signal: AbortSignal): Promise<readonly ContainerUsage[]> {
    const lists = await Promise.all(this.#both.map((each) => each.readUsage(signal)));
    return lists.flat();
  }

  async #ofSandbox(id: string, signal: AbortSignal): Promise<Containers> {
    return (await this.#programs.findSandbox(id, signal)) ? this.#programs : this.#images;
  }

  async #ofContainer(id: string, signal: AbortSignal): Promise<Containers> {
    return (await this.#programs.findContainer(id, signal)) ? this.#programs : this.#images;
  }

  async #hasLog(id: string, signal: AbortSignal): Promise<boolean> {
    try {
      for await (const _ of this.#programs.readLog(id, { tailLines: 0 }, signal)) return true;
      return true;
    } catch {
      // It has none of that name; what goes wrong with the others' is told by them.
      return false;
    }
  }
}
