import type { Container, Pod, Probe } from '@sheaf/api/workload/index';
import type { Clock, Disposable } from '@sheaf/base';
import type { CheckResult } from '@sheaf/ports';
import type { ProbeFacts, ProbeFailure } from './plan.ts';
import { runProbeLoop } from './probe-loop.ts';
import type { ContainerRun } from './run-ids.ts';

/** Carries out one check of a container that runs. */
export type CarryOut = (
  target: { readonly pod: Pod; readonly container: Container; readonly run: ContainerRun },
  probe: Probe,
  signal: AbortSignal,
) => Promise<CheckResult>;

export interface ProbeRunnerOptions {
  readonly clock: Clock;
  readonly carryOut: CarryOut;
  /** Something has changed that the status or the plan goes by. */
  readonly onChange: (podUid: string) => void;
  readonly tell: (pod: Pod, event: { readonly reason: string; readonly message: string }) => void;
}

interface Watched {
  readonly stop: AbortController;
  isStarted: boolean;
  isReady: boolean;
  failure: ProbeFailure | undefined;
}

type Kind = 'Startup' | 'Liveness' | 'Readiness';

/** Checks running containers as their probes say, and remembers how they are. */
export class ProbeRunner implements Disposable {
  readonly #options: ProbeRunnerOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: ProbeRunnerOptions) {
    this.#options = options;
  }

  dispose(): void {
    for (const id of this.#watched.keys()) this.#end(id);
  }

  /** How the newest run of a container is; begins to check one that has just started. */
  factsOf(pod: Pod, container: Container, run: ContainerRun | undefined): ProbeFacts {
    if (run?.observed.state !== 'running') return { isStarted: false, isReady: false };
    const watched = this.#watched.get(run.observed.id) ?? this.#begin(pod, container, run);
    const { isStarted, isReady, failure } = watched;
    return { isStarted, isReady: isStarted && isReady, ...(failure !== undefined && { failure }) };
  }

  /** Ends the checks of runs that are not among these. */
  keep(podUid: string, runIds: ReadonlySet<string>): void {
    for (const id of this.#watched.keys()) if (id.startsWith(`${podUid}_`) && !runIds.has(id)) this.#end(id);
  }

  #end(runId: string): void {
    this.#watched.get(runId)?.stop.abort(new Error('the container has ended'));
    this.#watched.delete(runId);
  }

  #begin(pod: Pod, container: Container, run: ContainerRun): Watched {
    const before = wasBefore(pod, container, run);
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const watched: Watched = {
      stop: new AbortController(),
      isStarted: !startupProbe || before.isStarted,
      isReady: !readinessProbe || before.isReady,
      failure: undefined,
    };
    this.#watched.set(run.observed.id, watched);
    const check = { pod, container, run, watched };
    if (startupProbe && !watched.isStarted)
      void this.#loop({ ...check, kind: 'Startup', probe: startupProbe });
    if (livenessProbe) void this.#loop({ ...check, kind: 'Liveness', probe: livenessProbe });
    if (readinessProbe) void this.#loop({ ...check, kind: 'Readiness', probe: readinessProbe });
    return watched;
  }

  async #loop(check: Check): Promise<void> {
    const { pod, container, run, probe, watched, kind } = check;
    const { clock, carryOut } = this.#options;
    await runProbeLoop(
      {
        clock,
        probe,
        startedAtMs: run.observed.startedAt ?? clock.now(),
        carryOut: (signal) => carryOut({ pod, container, run }, probe, signal),
        isDue: () => kind === 'Startup' || watched.isStarted,
        onResult: (result, isEnough) => this.#judge(check, result, isEnough),
      },
      watched.stop.signal,
    );
  }

  /** True: nothing is left to find out. */
  #judge(check: Check, result: CheckResult, isEnough: boolean): boolean {
    const { pod, kind, watched } = check;
    const { onChange, tell } = this.#options;
    if (!result.isHealthy)
      tell(pod, { reason: 'Unhealthy', message: `${kind} probe failed: ${result.text}` });
    if (isEnough && note(check, result)) onChange(pod.metadata.uid ?? '');
    return kind === 'Startup' && watched.isStarted;
  }
}

/** True: something is otherwise than before. */
function note({ kind, probe, watched }: Check, result: CheckResult): boolean {
  const before = { ...watched };
  if (kind === 'Readiness') watched.isReady = result.isHealthy;
  else if (!result.isHealthy) watched.failure ??= failureOf(kind, probe);
  else if (kind === 'Startup') watched.isStarted = true;
  return (
    before.isStarted !== watched.isStarted ||
    before.isReady !== watched.isReady ||
    before.failure !== watched.failure
  );
}

function failureOf(kind: Exclude<Kind, 'Readiness'>, probe: Probe): ProbeFailure {
  const { terminationGracePeriodSeconds: graceSeconds } = probe;
  const failed = kind === 'Startup' ? 'startup' : 'liveness';
  return { probe: failed, ...(graceSeconds !== undefined && { graceSeconds }) };
}

interface Check {
  readonly pod: Pod;
  readonly container: Container;
  readonly run: ContainerRun;
  readonly kind: Kind;
  readonly probe: Probe;
  readonly watched: Watched;
}

/** What the status said of this very run: after a restart of this process it is not unready until the next check. */
function wasBefore(
  { status }: Pod,
  { name }: Container,
  { observed }: ContainerRun,
): { readonly isStarted: boolean; readonly isReady: boolean } {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const told = all.find((each) => each.name === name && each.containerID?.endsWith(`//${observed.id}`));
  return { isStarted: told?.started === true, isReady: told?.ready === true };
}
