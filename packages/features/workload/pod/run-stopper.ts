import { identityOf } from '@sheaf/api';
import type { Container, Pod } from '@sheaf/api/workload/index';
import { type Clock, type Logger, toError } from '@sheaf/base';
import type { Containers } from '@sheaf/ports';
import type { LifecycleHooks } from './lifecycle-hooks.ts';
import type { EndReason } from './pod-end.ts';
import type { ContainerRun } from './run-ids.ts';
import type { PodEvent } from './run-launcher.ts';

export interface RunStopperOptions {
  readonly containers: Containers;
  readonly hooks: LifecycleHooks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tell: (pod: Pod, event: PodEvent) => void;
  readonly onEnd: (podUid: string) => void;
}

export interface StopOrder {
  readonly pod: Pod;
  readonly run: ContainerRun;
  readonly graceMs: number;
  readonly reason: EndReason;
}

/** Ends containers with their time of grace, each one once, without anybody waiting for it. */
export class RunStopper {
  readonly #options: RunStopperOptions;
  readonly #stopping = new Map<string, { untilMs: number }>();

  constructor(options: RunStopperOptions) {
    this.#options = options;
  }

  /** Called again with less grace, it ends sooner. */
  stop(order: StopOrder, signal: AbortSignal): void {
    const { clock } = this.#options;
    const { id } = order.run.observed;
    const untilMs = clock.monotonic() + order.graceMs;
    const known = this.#stopping.get(id);
    if (known && known.untilMs <= untilMs + 1000) return;
    this.#stopping.set(id, { untilMs });
    void this.#end(order, { isFirst: known === undefined, signal });
  }

  async #end(
    order: StopOrder,
    { isFirst, signal }: { readonly isFirst: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    const { containers, logger, onEnd, clock } = this.#options;
    const { pod, run, graceMs } = order;
    const { id } = run.observed;
    const begunMs = clock.monotonic();
    try {
      if (isFirst) await this.#prepare(order, signal);
      const leftMs = Math.max(0, graceMs - (clock.monotonic() - begunMs));
      await containers.stopContainer(id, { graceMs: leftMs }, signal);
    } catch (error) {
      // It is still running: the next pass asks again.
      if (!signal.aborted)
        logger.warn('a container could not be ended', { container: id, cause: toError(error) });
    } finally {
      this.#stopping.delete(id);
      onEnd(identityOf(pod).uid);
    }
  }

  async #prepare({ pod, run, graceMs, reason }: StopOrder, signal: AbortSignal): Promise<void> {
    const { tell, hooks } = this.#options;
    const container = containerOf(pod, run.container);
    tell(pod, { type: 'Normal', reason: 'Killing', message: killingText(run.container, reason) });
    const hook = container?.lifecycle?.preStop;
    if (!container || !hook || graceMs === 0) return;
    const result = await hooks.run({ container, run }, hook, { limitMs: graceMs, signal });
    if (!result.isHealthy && !signal.aborted)
      tell(pod, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' });
  }
}

function containerOf({ spec }: Pod, wanted: string): Container | undefined {
  return [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === wanted);
}

function killingText(container: string, reason: EndReason): string {
  if (reason.kind === 'probe')
    return `Container ${container} failed ${reason.probe} probe${reason.comesBack ? ', will be restarted' : ''}`;
  if (reason.kind === 'changed') return `Container ${container} definition changed, will be restarted`;
  return `Stopping container ${container}`;
}
