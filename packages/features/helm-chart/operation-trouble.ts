import type { Waiting } from '@sheaf/api';
import type { ContainerState, Job, Pod } from '@sheaf/api/workload/index';
import { helmFailures } from '@sheaf/ports';
import { isAlive } from './operation-state.ts';

/** What keeps an operation from its end, as its pods tell; `undefined`: nothing that is known. */
export function troubleOf(job: Job, pods: readonly Pod[]): Waiting | undefined {
  const newest = pods.find(isAlive) ?? pods.find((pod) => endTrouble(pod) !== undefined);
  if (!newest) return jobTrouble(job);
  const standing = standingTrouble(
    newest,
    'see that the image can be pulled, or name another one with jobImage',
  );
  return standing ?? endTrouble(newest);
}

/** What keeps a pod from its start. */
export function standingTrouble(pod: Pod, imageWayOut: string): Waiting | undefined {
  return isAlive(pod) ? (placeTrouble(pod) ?? startTrouble(pod, imageWayOut)) : undefined;
}

function jobTrouble({ metadata, status }: Job): Waiting | undefined {
  const failed = status?.conditions?.find(({ type, status: is }) => type === 'Failed' && is === 'True');
  if (!failed) return undefined;
  const { namespace = '', name = '' } = metadata;
  return {
    reason: failed.reason || 'JobFailed',
    text: failed.message || 'its Job has failed',
    nature: 'fault',
    wayOut: 'set the annotation sheaf.dev/retry to another text for another try',
    object: { kind: 'Job', namespace, name },
  };
}

function podObject({ metadata }: Pod): NonNullable<Waiting['object']> {
  return { kind: 'Pod', namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

function placeTrouble(pod: Pod): Waiting | undefined {
  const placed = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (placed?.status !== 'False') return undefined;
  return {
    reason: placed.reason || 'Unschedulable',
    text: placed.message || 'no node takes its pod',
    nature: 'transient',
    wayOut: 'make room, or take away what keeps pods from the node',
    object: podObject(pod),
  };
}

/** Words of a kubelet that mean that it will not change by itself. */
const faults: ReadonlySet<string> = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
]);
const imageReasons = /Image/;
/** It may take long, and there is nothing to mend. */
const pulling = /^Pulling image /;

function startTrouble(pod: Pod, imageWayOut: string): Waiting | undefined {
  const waiting = firstState(pod, ({ waiting: is }) => is?.message !== undefined)?.waiting;
  if (!waiting || waiting.reason === 'CrashLoopBackOff') return undefined;
  const { reason = 'ContainerWaiting', message: text = '' } = waiting;
  const object = podObject(pod);
  if (pulling.test(text)) return { reason, text, nature: 'transient', object };
  return {
    reason,
    text,
    nature: faults.has(reason) ? 'fault' : 'transient',
    wayOut: imageReasons.test(reason) ? imageWayOut : 'mend what it names',
    object,
  };
}

/** The last words of the newest run that has failed: its own, else the end of its log. */
function endTrouble(pod: Pod): Waiting | undefined {
  const ended = failedRun(pod);
  if (!ended) return undefined;
  const next = nextTry(pod, ended);
  const text = `${wordsOf(ended)}${next === undefined ? '' : `; ${next}`}`;
  return { ...failureOf(ended), text, object: podObject(pod) };
}

/** When it is tried again, for people. */
function nextTry(pod: Pod, { finishedAt }: Ended): string | undefined {
  if (!isAlive(pod)) return undefined;
  if (firstState(pod, ({ running }) => running !== undefined)) return 'the next try is at work';
  const rest = restMs(pod);
  if (rest === undefined || finishedAt === undefined) return undefined;
  const at = new Date(Date.parse(finishedAt) + rest);
  return `the next try begins at ${at.toISOString().replace(/\.\d+Z$/, 'Z')}`;
}

/** A container that is to come back says how long it rests. */
function restMs(pod: Pod): number | undefined {
  const state = firstState(pod, ({ waiting }) => waiting?.reason === 'CrashLoopBackOff');
  const rest = restPattern.exec(state?.waiting?.message ?? '');
  if (!rest) return undefined;
  const { minutes = '0', seconds = '0' } = rest.groups ?? {};
  return (Number(minutes) * 60 + Number(seconds)) * 1000;
}

/** Of a kubelet: `back-off 1m20s restarting failed container=…`. */
const restPattern = /^back-off (?:(?<minutes>\d+)m)?(?:(?<seconds>\d+)s)? restarting/;

type Ended = NonNullable<ContainerState['terminated']>;

function failureOf({ exitCode }: Ended): Pick<Waiting, 'reason' | 'nature'> & { readonly wayOut: string } {
  const known = helmFailures.find((failure) => failure.exitCode === exitCode);
  if (!known) return { reason: 'OperationFailed', nature: 'transient', wayOut: 'read the log of its pod' };
  const { reason, nature, wayOut } = known;
  return { reason, nature, wayOut };
}

export function wordsOf({ exitCode, message = '', reason }: Ended): string {
  const words = message.trim();
  if (words !== '') return words;
  return `it ended with ${exitCode}${reason ? ` (${reason})` : ''}`;
}

function firstState({ status }: Pod, has: (state: ContainerState) => boolean): ContainerState | undefined {
  return status?.containerStatuses?.map(({ state }) => state ?? {}).find(has);
}

/** The newest one that has failed by itself; one that was told to end, with its Job, tells nothing of the cause. */
export function failedRun(pod: Pod): Ended | undefined {
  const current = firstState(pod, ({ terminated }) => (terminated?.exitCode ?? 0) !== 0)?.terminated;
  const earlier = lastFailure(pod);
  if (current && earlier && cutShort.has(current.exitCode)) return earlier;
  return current ?? earlier;
}

/** Exit codes of programs that SIGTERM or SIGKILL has ended. */
const cutShort: ReadonlySet<number> = new Set([143, 137]);

/** A run that has begun since tells nothing yet. */
function lastFailure({ status }: Pod): ContainerState['terminated'] {
  const past = status?.containerStatuses?.map(({ lastState }) => lastState?.terminated);
  return past?.find((terminated) => (terminated?.exitCode ?? 0) !== 0);
}
