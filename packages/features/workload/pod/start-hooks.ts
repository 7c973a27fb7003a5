import { identityOf } from '@sheaf/api';
import type { Container, Pod } from '@sheaf/api/workload/index';
import { type Disposable, type Logger, toError } from '@sheaf/base';
import type { ContainerObservation, Containers } from '@sheaf/ports';
import type { LifecycleHooks } from './lifecycle-hooks.ts';
import type { PodEvent } from './run-launcher.ts';

export interface StartHooksOptions {
  readonly containers: Pick<Containers, 'stopContainer'>;
  readonly hooks: LifecycleHooks;
  readonly logger: Logger;
  readonly tell: (pod: Pod, event: PodEvent) => void;
  readonly onEnd: (podUid: string) => void;
}

interface StartedRun {
  readonly pod: Pod;
  readonly container: Container;
  readonly observed: ContainerObservation;
}

/**
 * Hooks after the start of containers, beside the passes over their pods: they may take as long as they like. A container whose hook
 * fails is ended, with the time that it may take; its policy says what comes then. A hook that this process does not outlive is not
 * repeated: the container runs, as it does under a kubelet.
 */
export class StartHooks implements Disposable {
  readonly #options: StartHooksOptions;
  readonly #underWay = new Map<string, AbortController>();

  constructor(options: StartHooksOptions) {
    this.#options = options;
  }

  dispose(): void {
    for (const runId of this.#underWay.keys()) this.#end(runId);
  }

  /** A container without a hook has nothing to wait for. */
  begin(started: StartedRun, signal: AbortSignal): void {
    if (!started.container.lifecycle?.postStart) return;
    const stop = new AbortController();
    this.#underWay.set(started.observed.id, stop);
    void this.#run(started, AbortSignal.any([stop.signal, signal]));
  }

  isUnderWay(runId: string): boolean {
    return this.#underWay.has(runId);
  }

  /** Of any run of a pod: nothing else of it is started meanwhile. */
  isPodWaiting(podUid: string): boolean {
    return this.#underWay.keys().some((runId) => runId.startsWith(`${podUid}_`));
  }

  /** Ends the hooks of runs that are not among these. */
  keep(podUid: string, runIds: ReadonlySet<string>): void {
    for (const runId of this.#underWay.keys())
      if (runId.startsWith(`${podUid}_`) && !runIds.has(runId)) this.#end(runId);
  }

  #end(runId: string): void {
    this.#underWay.get(runId)?.abort(new Error('the container has ended'));
    this.#underWay.delete(runId);
  }

  async #run({ pod, container, observed }: StartedRun, signal: AbortSignal): Promise<void> {
    const { hooks, containers, tell, logger, onEnd } = this.#options;
    const hook = container.lifecycle?.postStart;
    try {
      const result = hook && (await hooks.run({ container, run: { observed } }, hook, { signal }));
      if (!result || result.isHealthy || signal.aborted) return;
      // What a hook says may be nobody else's business.
      tell(pod, { type: 'Warning', reason: 'FailedPostStartHook', message: 'PostStartHook failed' });
      const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
      await containers.stopContainer(observed.id, { graceMs }, signal);
    } catch (error) {
      if (!signal.aborted)
        logger.warn('a container whose hook has failed could not be ended', {
          container: observed.id,
          cause: toError(error),
        });
    } finally {
      this.#underWay.delete(observed.id);
      onEnd(identityOf(pod).uid);
    }
  }
}
