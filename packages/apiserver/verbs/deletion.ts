import type { KubeObject } from '@sheaf/api';
import { type JsonObject, jsonEqual } from '@sheaf/base';
import type { Propagation } from '../options/delete-options.ts';

export interface DeletionInput {
  readonly propagation: Propagation | undefined;
  readonly defaultPropagation: 'Background' | 'Orphan';
  readonly gracePeriodSeconds: number | undefined;
  /** Pods alone have a grace period. */
  readonly isPod: boolean;
  /** Others are not gone before somebody outside has ended them, who has to know whether no grace was wanted. */
  readonly tellsHaste?: boolean;
  /** RFC 3339 in seconds. */
  readonly now: string;
  readonly nowMs: number;
  /** The metadata as it is kept. */
  readonly before: KubeObject['metadata'];
  /** True while something besides finalizers holds the object. */
  readonly isHeld: boolean;
}

export type DeletionStep =
  | { readonly action: 'remove' }
  /** Nothing to write: it is already being deleted in the same way. */
  | { readonly action: 'keep' }
  | { readonly action: 'mark'; readonly object: KubeObject };

const defaultPodGraceSeconds = 30;
const propagationFinalizers: Readonly<Record<string, Propagation>> = {
  orphan: 'Orphan',
  foregroundDeletion: 'Foreground',
};

/** What a DELETE does to an object. Pure, but for changing `object`, which it is given. */
export function planDeletion(object: KubeObject, input: DeletionInput): DeletionStep {
  const before = input.before;
  const { metadata } = object;
  const finalizers = nextFinalizers(object, input);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const grace = graceOf(object, input);
  if (finalizers.length === 0 && grace === 0 && !input.isHeld) return { action: 'remove' };
  markDeleted(object, grace, input);
  return jsonEqual(metadata as JsonObject, before as JsonObject)
    ? { action: 'keep' }
    : { action: 'mark', object };
}

/** The collector's finalizers follow the policy; those of others stay. */
function nextFinalizers(object: KubeObject, input: DeletionInput): string[] {
  const present = object.metadata.finalizers ?? [];
  const own = present.map((name) => propagationFinalizers[name]).find((policy) => policy !== undefined);
  const policy = input.propagation ?? own ?? input.defaultPropagation;
  const others = present.filter((name) => !(name in propagationFinalizers));
  const wanted = Object.keys(propagationFinalizers).find((name) => propagationFinalizers[name] === policy);
  if (!wanted) return others;
  return present.includes(wanted)
    ? [...present.filter((name) => name === wanted || others.includes(name))]
    : [...others, wanted];
}

function graceOf(object: KubeObject, input: DeletionInput): number {
  if (!input.isPod || !isRunning(object)) return 0;
  const spec = object['spec'] as { terminationGracePeriodSeconds?: number };
  const wanted = Math.max(
    0,
    input.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? defaultPodGraceSeconds,
  );
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return wanted;
  // A second delete can only shorten.
  return Math.min(wanted, deletionGracePeriodSeconds);
}

/** A pod that no node has, or that has ended, needs no grace. */
function isRunning(pod: KubeObject): boolean {
  const spec = pod['spec'] as { nodeName?: string } | undefined;
  const status = pod['status'] as { phase?: string } | undefined;
  return Boolean(spec?.nodeName) && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function markDeleted(object: KubeObject, grace: number, input: DeletionInput): void {
  const { metadata } = object;
  // A second delete may bring the haste that the first one did not have.
  if (input.tellsHaste === true && input.gracePeriodSeconds === 0) metadata.deletionGracePeriodSeconds = 0;
  const isShorter =
    metadata.deletionGracePeriodSeconds !== undefined && grace < metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined && !isShorter) return;
  if (metadata.deletionTimestamp === undefined && metadata.generation !== undefined) metadata.generation += 1;
  metadata.deletionTimestamp =
    grace === 0 ? input.now : `${new Date(input.nowMs + grace * 1000).toISOString().slice(0, 19)}Z`;
  if (setsGrace(input)) metadata.deletionGracePeriodSeconds = grace;
}

/** What is held by more than finalizers has no grace period that would have to pass. */
function setsGrace({ isHeld, tellsHaste }: DeletionInput): boolean {
  return !isHeld && tellsHaste !== true;
}
