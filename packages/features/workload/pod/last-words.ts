import type { ContainerStatus, Pod } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import type { Containers, PodVolumes } from '@sheaf/ports';
import type { PodFacts } from './plan.ts';
import { hasSucceeded } from './restart.ts';
import { type ContainerRun, publicId } from './run-ids.ts';

/** Of its log, what a container that has failed may leave as its last words. */
const mostLines = 80;
const mostBytes = 2048;

export interface WordsParts {
  readonly containers: Pick<Containers, 'readLog'>;
  readonly volumes: Pick<PodVolumes, 'readMessage'>;
}

/** What ended runs have left as their last words, by their ids. What has been told stays: the files go with the pod's volumes. */
export async function lastWordsOf(
  parts: WordsParts,
  { pod, runs }: Pick<PodFacts, 'pod' | 'runs'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const told = toldEnds(pod);
  const words = new Map<string, string>();
  for (const run of [...runs.values()].flat()) {
    const { id, state } = run.observed;
    if (state !== 'ended') continue;
    words.set(id, told.get(publicId(run)) ?? (await readWords(parts, { pod, run }, signal)));
  }
  return words;
}

/** Whether the status tells how each container has ended that has: then nothing of the pod's own is needed for it. */
export function areEndsTold({ pod, runs }: Pick<PodFacts, 'pod' | 'runs'>): boolean {
  const told = toldEnds(pod);
  const newest = [...runs.values()].map((all) => all.at(-1)).filter((run) => run !== undefined);
  return newest.every((run) => run.observed.state !== 'ended' || told.has(publicId(run)));
}

/** By the names of runs, with the words. */
function toldEnds({ status }: Pod): ReadonlyMap<string, string> {
  const all: readonly ContainerStatus[] = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  const ends = all.flatMap(({ state, lastState }) => [lastState?.terminated, state?.terminated]);
  return new Map(ends.flatMap((end) => (end?.containerID ? [[end.containerID, end.message ?? '']] : [])));
}

async function readWords(
  { containers, volumes }: WordsParts,
  { pod, run }: { readonly pod: Pod; readonly run: ContainerRun },
  signal: AbortSignal,
): Promise<string> {
  const { id } = run.observed;
  const written = await volumes.readMessage(pod.metadata.uid ?? '', id, signal);
  return written === '' && isInLog(pod, run) ? await endOfLog(containers, id, signal) : written;
}

/** Whether the end of its log may be taken for its last words. */
function isInLog({ spec }: Pod, { container: wanted, observed: { end } }: ContainerRun): boolean {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const container = [...initContainers, ...containers, ...ephemeralContainers].find(
    ({ name }) => name === wanted,
  );
  if (container?.terminationMessagePolicy !== 'FallbackToLogsOnError') return false;
  const hasOwnWords = end?.cause === 'start-failed' || end?.cause === 'lost';
  return !hasOwnWords && !hasSucceeded(end);
}

async function endOfLog(
  containers: WordsParts['containers'],
  runId: string,
  signal: AbortSignal,
): Promise<string> {
  const parts: Uint8Array[] = [];
  try {
    for await (const { content, isPart } of containers.readLog(runId, { tailLines: mostLines }, signal))
      parts.push(content, Buffer.from(isPart ? '' : '\n'));
  } catch (error) {
    // Somebody has removed it: there is nothing to tell.
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
  const bytes = Buffer.concat(parts);
  // Half of a character is none.
  return bytes
    .subarray(-mostBytes)
    .toString()
    .replace(/^\uFFFD+/, '');
}
