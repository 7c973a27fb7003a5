import type { ContainerObservation, SandboxObservation } from '@sheaf/ports';

/** Labels of sandboxes and containers: whose they are, for whoever finds them. */
export const podLabels = {
  uid: 'io.kubernetes.pod.uid',
  name: 'io.kubernetes.pod.name',
  namespace: 'io.kubernetes.pod.namespace',
  container: 'io.kubernetes.container.name',
} as const;

/** How often a container had ended soon after its start, before a run of it. */
const crashesLabel = 'sheaf.dev/crashes';
/** The image that a run was asked to have. */
const imageLabel = 'sheaf.dev/image';

export function sandboxId(podUid: string, attempt: number): string {
  return `${podUid}_${attempt}`;
}

export function containerId(
  podUid: string,
  run: { readonly container: string; readonly attempt: number },
): string {
  return `${podUid}_${run.container}_${run.attempt}`;
}

export function runLabels(run: {
  readonly crashes: number;
  readonly image: string;
}): Readonly<Record<string, string>> {
  return { [crashesLabel]: String(run.crashes), [imageLabel]: run.image };
}

/** A sandbox of a pod: each life of it has a number. */
export interface PodSandbox {
  readonly attempt: number;
  readonly sandbox: SandboxObservation;
}

/** One run of a container of a pod. The number of the newest one is how often it was restarted. */
export interface ContainerRun {
  readonly container: string;
  readonly attempt: number;
  readonly crashes: number;
  /** As the pod named it; `undefined` of one whose start was before that was written down. */
  readonly image?: string;
  readonly observed: ContainerObservation;
}

/** How a run is called outside. */
export function publicId({ observed }: ContainerRun): string {
  return `sheaf://${observed.id}`;
}

/** Oldest first. */
export function sandboxesOf(podUid: string, sandboxes: readonly SandboxObservation[]): readonly PodSandbox[] {
  return sandboxes
    .filter(({ labels }) => labels[podLabels.uid] === podUid)
    .map((sandbox) => ({ sandbox, attempt: attemptOf(sandbox.id) }))
    .toSorted((a, b) => a.attempt - b.attempt);
}

/** By container, oldest first. */
export function runsOf(
  podUid: string,
  containers: readonly ContainerObservation[],
): ReadonlyMap<string, readonly ContainerRun[]> {
  const runs = containers
    .filter(({ labels }) => labels[podLabels.uid] === podUid)
    .map((observed) => ({
      container: observed.labels[podLabels.container] ?? '',
      attempt: attemptOf(observed.id),
      crashes: Number(observed.labels[crashesLabel]) || 0,
      ...(observed.labels[imageLabel] !== undefined && { image: observed.labels[imageLabel] }),
      observed,
    }))
    .toSorted((a, b) => a.attempt - b.attempt);
  return Map.groupBy(runs, ({ container }) => container);
}

function attemptOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('_') + 1)) || 0;
}
