import { asJson, type KubeObject } from '@sheaf/api';
import { type JsonObject, jsonClone, jsonEqual } from '@sheaf/base';
import type { AdmissionRequest, MutationPass } from './plugin.ts';

/** Which webhooks or policies see an object again because it was changed after they had seen it. */
export class Reinvocation {
  /** Seen in this pass, and wanting to see later changes. */
  #earlier = new Set<string>();
  readonly #again = new Set<string>();
  #output: JsonObject | undefined;

  /** In the second pass the plugins of the server itself may have changed the object since. */
  begin({ object }: AdmissionRequest, { round }: MutationPass): void {
    if (round === 1 && !jsonEqual(object && asJson(object), this.#output)) this.#require();
  }

  includes(id: string, { round }: MutationPass): boolean {
    return round === 0 || this.#again.has(id);
  }

  /** Something has changed the object. */
  changed(pass: MutationPass): void {
    this.#require();
    pass.repeat();
  }

  add(id: string): void {
    this.#earlier.add(id);
  }

  end({ object }: AdmissionRequest): void {
    this.#output = this.#earlier.size > 0 ? copyOf(object) : undefined;
  }

  #require(): void {
    for (const id of this.#earlier) this.#again.add(id);
    this.#earlier = new Set();
  }
}

function copyOf(object: KubeObject | undefined): JsonObject | undefined {
  return object && jsonClone(asJson(object));
}
