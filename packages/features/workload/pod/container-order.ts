import type { Container } from '@sheaf/api/workload/index';
import type { PodFacts, RunOrder } from './plan.ts';
import { crashesAfter, hasSucceeded, isSidecar, policyAfter, restartInMs } from './restart.ts';
import type { ContainerRun } from './run-ids.ts';

/** All init containers have done their work in this life of the pod, and its sidecars have started. */
export function isInitDone(facts: PodFacts, sandboxId: string): boolean {
  return (facts.pod.spec.initContainers ?? []).every((container) => isPast(facts, container, sandboxId));
}

/** Init containers that are to be started now: the next one, and sidecars that have ended. */
export function nextInitContainers(facts: PodFacts, sandboxId: string): readonly RunOrder[] {
  const orders: RunOrder[] = [];
  for (const container of facts.pod.spec.initContainers ?? []) {
    const order = startOrder(facts, container, { sandboxId, isInit: true });
    if (order && (isSidecar(container) || !isPast(facts, container, sandboxId))) orders.push(order);
    if (!isPast(facts, container, sandboxId)) break;
  }
  return orders;
}

export function mainContainersToStart(facts: PodFacts, sandboxId: string): readonly RunOrder[] {
  return facts.pod.spec.containers
    .map((container) => startOrder(facts, container, { sandboxId, isInit: false }))
    .filter((order) => order !== undefined);
}

/** Those that somebody has put in to look: as soon as there is a place, whatever else waits. */
export function ephemeralToStart(facts: PodFacts, sandboxId: string): readonly RunOrder[] {
  return (facts.pod.spec.ephemeralContainers ?? []).flatMap((container): readonly RunOrder[] => {
    const newest = facts.runs.get(container.name)?.at(-1);
    if (newest && newest.observed.state !== 'starting') return [];
    return [{ container, attempt: 0, crashes: 0, sandboxId: newest?.observed.sandboxId ?? sandboxId }];
  });
}

/** The next one may start: it has succeeded, or is a sidecar that has started, whatever became of it since. */
function isPast(facts: PodFacts, container: Container, sandboxId: string): boolean {
  const runs = runsIn(facts, container, sandboxId);
  if (!isSidecar(container)) return hasSucceeded(runs.at(-1)?.observed.end);
  const newest = runs.at(-1);
  return (
    newest !== undefined &&
    (runs.length > 1 || newest.observed.state === 'ended' || hasStarted(facts, container))
  );
}

function hasStarted({ probes }: PodFacts, { name }: Container): boolean {
  return probes.get(name)?.isStarted === true;
}

/** `undefined`: it runs, rests, or is done. */
function startOrder(
  facts: PodFacts,
  container: Container,
  { sandboxId, isInit }: { readonly sandboxId: string; readonly isInit: boolean },
): RunOrder | undefined {
  const newest = facts.runs.get(container.name)?.at(-1);
  if (!newest) return { container, attempt: 0, crashes: 0, sandboxId };
  const { observed, attempt, crashes } = newest;
  if (observed.state === 'starting') return { container, attempt, crashes, sandboxId: observed.sandboxId };
  if (observed.state === 'running') return undefined;
  // Another life of the pod: everything runs again.
  if (observed.sandboxId !== sandboxId) return { container, attempt: attempt + 1, crashes: 0, sandboxId };
  const policy = policyAfter(facts.pod, container, { isInit, end: observed.end });
  const restMs = restartInMs(newest, policy, facts.nowMs);
  if (restMs !== 0) return undefined;
  return { container, attempt: attempt + 1, crashes: crashesAfter(newest), sandboxId };
}

/** Runs in one life of the pod. */
export function runsIn(
  { runs }: Pick<PodFacts, 'runs'>,
  { name }: Container,
  sandboxId: string,
): readonly ContainerRun[] {
  return (runs.get(name) ?? []).filter(({ observed }) => observed.sandboxId === sandboxId);
}
