import type { KubeObject, Waiting } from '@sheaf/api';
import { conditionOf, fault, told } from './condition-words.ts';
import { at, textAt } from './connect.ts';

/** Why a virtual machine is not as its run strategy wants it. */
export function machineWaiting(machine: KubeObject): Waiting | undefined {
  const failure = conditionOf(machine, 'Failure');
  if (textAt(failure, 'status') === 'True') return told(failure, 'cannot be had as it is written');
  const shown = textAt(machine, 'status', 'printableStatus');
  if (shown === 'CrashLoopBackOff') return crashed(machine);
  const name = machine.metadata.name ?? '';
  const restart = conditionOf(machine, 'RestartRequired');
  if (textAt(restart, 'status') === 'True')
    return fault(
      'RestartRequired',
      `runs, but not as it is written now: ${textAt(restart, 'message')}`,
      `virtctl restart ${name}`,
    );
  if (shown === '') return { reason: 'NotObserved', nature: 'transient', text: 'has not been looked at yet' };
  if (['Running', 'Paused', 'Stopped'].includes(shown)) return growing(machine);
  const synchronized = conditionOf(machine, 'Synchronized');
  const state = `is ${shown}`;
  if (textAt(synchronized, 'status') === 'False') return told(synchronized, state);
  return { reason: shown, nature: 'transient', text: state };
}

/** It runs, and would be larger if there were room. */
function growing(machine: KubeObject): Waiting | undefined {
  const conditions = ['HotVCPUChange', 'HotMemoryChange'].map((type) => conditionOf(machine, type));
  const waiting = conditions.find((condition) => textAt(condition, 'status') === 'True');
  return waiting === undefined ? undefined : told(waiting, 'runs, and does not grow yet');
}

function crashed(machine: KubeObject): Waiting {
  const count = at(machine, 'status', 'startFailure', 'consecutiveFailCount');
  const next = textAt(machine, 'status', 'startFailure', 'retryAfterTimestamp');
  return fault(
    'CrashLoopBackOff',
    `has ended ${String(count)} times before it ran; the next try is at ${next}`,
    'Read the message of its instance at the next try, or its log: kubectl describe vmi.',
  );
}

/** Why an instance does not run although it is to. */
export function instanceWaiting(instance: KubeObject): Waiting | undefined {
  const phase = textAt(instance, 'status', 'phase');
  if (phase === 'Succeeded') return undefined;
  const ready = conditionOf(instance, 'Ready');
  if (phase === 'Failed')
    return {
      reason: textAt(instance, 'status', 'reason'),
      nature: 'transient',
      text: `has failed: ${textAt(ready, 'message')}`,
    };
  const synchronized = conditionOf(instance, 'Synchronized');
  if (textAt(synchronized, 'status') === 'False') return told(synchronized, 'does not start');
  if (textAt(ready, 'status') === 'False') return told(ready, 'is not ready');
  return growing(instance);
}

/** Why an image is not there. */
export function imageWaiting(image: KubeObject): Waiting | undefined {
  const imported = conditionOf(image, 'Imported');
  if (textAt(imported, 'status') === 'True') return undefined;
  if (textAt(imported, 'status') === 'False') return told(imported, 'could not be brought in');
  const progress = at(image, 'status', 'progress');
  const percent = typeof progress === 'number' ? `, ${progress} %` : '';
  return { reason: 'Importing', nature: 'transient', text: `is being brought in${percent}` };
}

/** Why a snapshot, a backup or a restore of a machine is not done. */
export function copyWaiting(copy: KubeObject): Waiting | undefined {
  const ready = conditionOf(copy, 'Ready');
  if (textAt(ready, 'status') === 'True') return undefined;
  if (textAt(ready, 'status') === 'False') return told(ready, 'is not done');
  return { reason: 'NotObserved', nature: 'transient', text: 'has not been looked at yet' };
}
