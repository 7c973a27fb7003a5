import type { KubeObject, Waiting } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { conditionOf, fault } from './condition-words.ts';
import { at, listAt, textAt } from './connect.ts';

/** Why a pod does not run, or not well; `unmet` is asked where it says nothing by itself. */
export function podWaiting(
  pod: KubeObject,
  unmet: (object: KubeObject) => Waiting | undefined,
): Waiting | undefined {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded') return undefined;
  if (phase === 'Failed') return failed(pod);
  const crash = crashed(pod);
  if (crash) return crash;
  if (phase !== 'Pending') return unmet(pod);
  if (textAt(pod, 'spec', 'nodeName') === '') return notScheduled(pod);
  return containerWaiting(pod) ?? unmet(pod) ?? notStarted(pod);
}

function notStarted(pod: KubeObject): Waiting {
  return {
    reason: 'NotStarted',
    nature: 'transient',
    text: `has been given to the node ${textAt(pod, 'spec', 'nodeName')} and has not started`,
  };
}

function failed(pod: KubeObject): Waiting {
  const own = textAt(pod, 'status', 'message') || textAt(pod, 'status', 'reason');
  const ended = statusesOf(pod)
    .map((status) => endWords(status, ['state', 'terminated']))
    .find((text) => text !== undefined);
  const why = [own, ended ?? ''].filter((text) => text !== '').join('; ');
  return fault('Failed', `has failed${why === '' ? '' : `: ${why}`}`, 'Read its log, then delete it.');
}

/** A container that ends by itself is started again, later each time; what it said last is the cause. */
function crashed(pod: KubeObject): Waiting | undefined {
  const status = statusesOf(pod).find(
    (each) => textAt(each, 'state', 'waiting', 'reason') === 'CrashLoopBackOff',
  );
  const words = status && endWords(status, ['lastState', 'terminated']);
  if (words === undefined) return undefined;
  return { reason: 'CrashLoopBackOff', nature: 'transient', text: `is started again later: ${words}` };
}

function endWords(status: JsonObject, path: readonly string[]): string | undefined {
  const code = at(status, ...path, 'exitCode');
  if (typeof code !== 'number' || code === 0) return undefined;
  const message = textAt(status, ...path, 'message').trim();
  const words = message || textAt(status, ...path, 'reason');
  return `its container ${textAt(status, 'name')} ended with ${code}${words === '' ? '' : `: ${words}`}`;
}

function notScheduled(pod: KubeObject): Waiting {
  const why = textAt(conditionOf(pod, 'PodScheduled'), 'message');
  const text = why === '' ? 'is not on a node yet' : `is not on a node yet: ${why}`;
  return { reason: 'NotScheduled', nature: 'transient', text };
}

/** What keeps its first container that says so from running, such as an image that cannot be had. */
function containerWaiting(pod: KubeObject): Waiting | undefined {
  const found = statusesOf(pod).find((status) => textAt(status, 'state', 'waiting', 'message') !== '');
  if (!found) return undefined;
  const reason = textAt(found, 'state', 'waiting', 'reason');
  const message = textAt(found, 'state', 'waiting', 'message');
  const text = `its container ${textAt(found, 'name')} waits: ${reason}: ${message}`;
  return { reason, nature: 'transient', text };
}

function statusesOf(pod: KubeObject): readonly JsonObject[] {
  return ['initContainerStatuses', 'containerStatuses'].flatMap((field) => listAt(pod, 'status', field));
}
