import type { Container, Pod } from '@sheaf/api/workload/index';
import { type Clock, type Disposable, StatusError, toError } from '@sheaf/base';
import { type ContainerImage, type ContainerImages, type PullOrder, readImageName } from '@sheaf/ports';
import { durationText, type StartProblem } from './container-status.ts';
import { pullPolicyOf } from './pull-policy.ts';

export interface ImageKeeperOptions {
  readonly images: ContainerImages;
  /** A bundle says what the name means here: no registry is asked for another. */
  readonly isBundled: (reference: string) => boolean;
  readonly clock: Clock;
  /** Who may pull from a registry, as the Secrets of a pod say. */
  readonly credentialsOf: (
    pod: Pod,
    reference: string,
    signal: AbortSignal,
  ) => Promise<readonly NonNullable<PullOrder['credentials']>[]>;
  readonly tell: (pod: Pod, event: ImageEvent) => void;
}

export interface ImageEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'Pulling' | 'Pulled' | 'Failed' | 'BackOff' | 'ErrImageNeverPull' | 'InspectFailed';
  readonly message: string;
}

export type ImageAnswer =
  | { readonly image: ContainerImage }
  /** `retryMs`: look again then, if nothing is announced before. */
  | { readonly problem: StartProblem; readonly retryMs: number }
  /** `failure`: why the last pull did not get it. */
  | { readonly pulling: true; readonly failure: string | undefined };

interface Failure {
  readonly atMs: number;
  readonly count: number;
  readonly message: string;
}

/** What a run needs an image for. */
export interface ImageNeed {
  readonly pod: Pod;
  readonly container: Container;
  /** Names the run: a pull for it happens once. */
  readonly runId: string;
}

const firstRestMs = 10_000;
const longestRestMs = 300_000;
const faultMs = 60_000;

/** Gets containers their images: finds them, pulls them, and rests longer after each failure. */
export class ImageKeeper implements Disposable {
  readonly #options: ImageKeeperOptions;
  /** Pulls under way: what a pull is for, by its id. */
  readonly #pulls = new Map<string, { readonly podUid: string; readonly sinceMs: number }>();
  readonly #pulled = new Map<string, ContainerImage>();
  /** By id: what an id names never changes. */
  readonly #seen = new Map<string, ContainerImage>();
  readonly #failures = new Map<string, Failure>();

  constructor(options: ImageKeeperOptions) {
    this.#options = options;
  }

  dispose(): void {
    this.#pulls.clear();
  }

  /** Whose pod a pull is for. */
  podOf(orderId: string): string | undefined {
    return this.#pulls.get(orderId)?.podUid;
  }

  /** Forgets what was got for a run that has begun, and for runs that will not. */
  forget(runId: string): void {
    this.#pulled.delete(runId);
    this.#failures.delete(runId);
  }

  /** How images are called outside, by their ids: by a digest that registries know, or by what is in them. */
  async publicNames(ids: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    for (const id of ids) {
      const image = this.#seen.get(id) ?? (await this.#options.images.find(id, signal));
      if (!image) continue;
      this.#seen.set(id, image);
      names.set(id, image.digests[0] ?? id);
    }
    return names;
  }

  async find(need: ImageNeed, signal: AbortSignal): Promise<ImageAnswer> {
    const { container, pod } = need;
    const { image: text = '' } = container;
    const name = readImageName(text);
    if (!name) {
      const message = `Failed to apply default image tag ${JSON.stringify(text)}: couldn't parse image name ${JSON.stringify(text)}: invalid reference format`;
      this.#options.tell(pod, { type: 'Warning', reason: 'InspectFailed', message });
      return fault('InvalidImageName', message);
    }
    const policy = pullPolicyOf(container.imagePullPolicy, name);
    const isAsked = policy === 'Always' && !this.#options.isBundled(name.stored);
    const there =
      this.#pulled.get(need.runId) ??
      (isAsked ? undefined : await this.#options.images.find(name.stored, signal));
    if (there) return this.#found(need, there);
    if (policy === 'Never') {
      const message = `Container image "${text}" is not present with pull policy of Never`;
      this.#options.tell(pod, { type: 'Warning', reason: 'ErrImageNeverPull', message });
      return fault('ErrImageNeverPull', message);
    }
    return this.#resting(need) ?? (await this.#pull(need, name.stored, signal));
  }

  #found(need: ImageNeed, image: ContainerImage): ImageAnswer {
    if (!this.#pulled.has(need.runId)) {
      const message = `Container image "${need.container.image}" already present on machine`;
      this.#options.tell(need.pod, { type: 'Normal', reason: 'Pulled', message });
    }
    return { image };
  }

  #resting({ pod, container, runId }: ImageNeed): ImageAnswer | undefined {
    const failure = this.#failures.get(runId);
    if (!failure) return undefined;
    const lengthMs = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(failure.count - 1, 10));
    const leftMs = failure.atMs + lengthMs - this.#options.clock.monotonic();
    if (leftMs <= 0) return undefined;
    const text = `Back-off pulling image "${container.image}"`;
    this.#options.tell(pod, { type: 'Normal', reason: 'BackOff', message: text });
    this.#options.tell(pod, { type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' });
    return {
      problem: {
        reason: 'ImagePullBackOff',
        message: `${text}: ErrImagePull: ${failure.message}; again in ${durationText(leftMs)}`,
      },
      retryMs: leftMs,
    };
  }

  async #pull(need: ImageNeed, reference: string, signal: AbortSignal): Promise<ImageAnswer> {
    const { images, clock, credentialsOf, tell } = this.#options;
    const { pod, container, runId } = need;
    const known = this.#pulls.get(runId);
    if (!known) {
      this.#pulls.set(runId, { podUid: pod.metadata.uid ?? '', sinceMs: clock.monotonic() });
      tell(pod, { type: 'Normal', reason: 'Pulling', message: `Pulling image "${container.image}"` });
    }
    try {
      const [credentials] = await credentialsOf(pod, reference, signal);
      const progress = await images.pull(
        { id: runId, reference, ...(credentials && { credentials }) },
        signal,
      );
      if (progress.state === 'working') return { pulling: true, failure: this.#failures.get(runId)?.message };
      if (progress.state === 'failed') return this.#failed(need, progress.message);
      return this.#done(need, progress.image);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      return this.#failed(need, toError(error).message);
    }
  }

  #done({ pod, container, runId }: ImageNeed, image: ContainerImage): ImageAnswer {
    const sinceMs = this.#pulls.get(runId)?.sinceMs ?? 0;
    const tookMs = Math.round(this.#options.clock.monotonic() - sinceMs);
    this.#pulls.delete(runId);
    this.#failures.delete(runId);
    this.#pulled.set(runId, image);
    const message = `Successfully pulled image "${container.image}" in ${tookMs}ms. Image size: ${image.bytes} bytes.`;
    this.#options.tell(pod, { type: 'Normal', reason: 'Pulled', message });
    return { image };
  }

  #failed({ pod, container, runId }: ImageNeed, message: string): ImageAnswer {
    this.#pulls.delete(runId);
    const count = (this.#failures.get(runId)?.count ?? 0) + 1;
    this.#failures.set(runId, { atMs: this.#options.clock.monotonic(), count, message });
    const text = `Failed to pull image "${container.image}": ${message}`;
    this.#options.tell(pod, { type: 'Warning', reason: 'Failed', message: text });
    this.#options.tell(pod, { type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' });
    return { problem: { reason: 'ErrImagePull', message }, retryMs: 1000 };
  }
}

function fault(reason: string, message: string): ImageAnswer {
  return { problem: { reason, message }, retryMs: faultMs };
}
