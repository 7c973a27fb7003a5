import type { AdmissionPlugin, AdmissionRequest, MutationPass } from './plugin.ts';

/** All plugins in their order: first every mutation, then what is given out, then every validation. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    const passes = new Passes();
    await this.#mutateOnce(request, passes);
    if (!passes.isRepeatWanted) return;
    passes.round = 1;
    await this.#mutateOnce(request, passes);
  }

  allocate(request: AdmissionRequest): void {
    for (const plugin of this.#plugins) {
      if (plugin.allocate && plugin.handles(request)) plugin.allocate(request);
    }
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (!plugin.validate || !plugin.handles(request)) continue;
      const pending = plugin.validate(request);
      if (pending) await pending;
    }
  }

  async #mutateOnce(request: AdmissionRequest, pass: MutationPass): Promise<void> {
    for (const plugin of this.#plugins) {
      if (!plugin.mutate || !plugin.handles(request)) continue;
      const pending = plugin.mutate(request, pass);
      if (pending) await pending;
    }
  }
}

class Passes implements MutationPass {
  round: 0 | 1 = 0;
  isRepeatWanted = false;
  #memories: Map<string, unknown> | undefined;

  repeat(): void {
    this.isRepeatWanted = true;
  }

  memory<T>(plugin: string, make: () => T): T {
    this.#memories ??= new Map();
    const known = this.#memories.get(plugin);
    if (known !== undefined) return known as T;
    const made = make();
    this.#memories.set(plugin, made);
    return made;
  }
}
