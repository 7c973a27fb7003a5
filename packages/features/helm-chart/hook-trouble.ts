import { gunzipSync } from 'node:zlib';
import type { KubeObject, Waiting } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import { failedRun, standingTrouble, wordsOf } from './operation-trouble.ts';

/** A Job or a pod of a chart that Helm waits for before it goes on. */
export interface HookAtWork {
  readonly kind: string;
  readonly name: string;
  /** How to go on where its image cannot be had. */
  readonly imageWayOut: string;
}

/** More than any record is: what is longer is not ours to unpack. */
const longestRecord = 64 * 1024 * 1024;

/** Selects what Helm has written down of a release that it works on. */
export function recordSelector(release: string): string {
  return `owner=helm,name=${release},status in (pending-install,pending-upgrade,pending-rollback,uninstalling)`;
}

/** The record of the newest revision: an earlier one may have been cut off. */
export function newestRecord(records: readonly KubeObject[]): KubeObject | undefined {
  const versionOf = ({ metadata }: KubeObject): number => Number(metadata.labels?.['version'] ?? 0);
  return records.toSorted((a, b) => versionOf(b) - versionOf(a))[0];
}

/** The hooks that run now, by the record of the release: a Secret or a ConfigMap. What cannot be read names none. */
export function hooksAtWork(record: KubeObject): readonly HookAtWork[] {
  const { hooks } = releaseOf(record) ?? {};
  return (Array.isArray(hooks) ? hooks : []).flatMap((hook: JsonValue) => {
    if (!isJsonObject(hook) || !isJsonObject(hook['last_run'])) return [];
    const { kind, name, last_run: run } = hook;
    return run['phase'] === 'Running' && typeof kind === 'string' && typeof name === 'string'
      ? [{ kind, name, imageWayOut: imageWayOutOf({ kind, name }, record) }]
      : [];
  });
}

/** Values no longer count for a release that is being taken away; Helm goes on when what it waits for has gone. */
function imageWayOutOf({ kind, name }: Pick<HookAtWork, 'kind' | 'name'>, { metadata }: KubeObject): string {
  const other =
    metadata.labels?.['status'] === 'uninstalling'
      ? `do without this hook: kubectl delete ${kind.toLowerCase()} ${name} --namespace ${metadata.namespace}`
      : 'name another one in the values';
  return `see that the image can be pulled, or ${other}`;
}

/** Gzip in base64; the data of a Secret is that in base64 once more. */
function releaseOf({ kind, data }: KubeObject): { readonly hooks?: JsonValue } | undefined {
  const { release } = (data ?? {}) as { readonly release?: string };
  if (release === undefined) return undefined;
  try {
    const text = kind === 'ConfigMap' ? release : Buffer.from(release, 'base64').toString('latin1');
    const bytes = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: longestRecord });
    const parsed = JSON.parse(bytes.toString('utf8')) as JsonValue;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    // Written by a Helm that keeps it in another way: it tells by itself when it has failed.
    return undefined;
  }
}

/** What keeps hooks from their end, as their pods tell: all pods of the namespace of the release. */
export function hookTrouble(hooks: readonly HookAtWork[], pods: readonly Pod[]): Waiting | undefined {
  for (const hook of hooks)
    for (const pod of pods.filter((each) => isOf(hook, each))) {
      const trouble = standing(hook, pod) ?? failing(hook, pod);
      if (trouble) return trouble;
    }
  return undefined;
}

function standing({ kind, name, imageWayOut }: HookAtWork, pod: Pod): Waiting | undefined {
  const trouble = standingTrouble(pod, imageWayOut);
  return trouble && { ...trouble, text: `its hook ${kind} ${name} does not begin: ${trouble.text}` };
}

/** Helm hears of that when the hook has given up. */
function failing({ kind, name }: HookAtWork, pod: Pod): Waiting | undefined {
  const ended = failedRun(pod);
  if (!ended) return undefined;
  const { namespace = '', name: podName = '' } = pod.metadata;
  return {
    reason: 'HookFailing',
    text: `its hook ${kind} ${name} goes on after a failure: ${wordsOf(ended)}`,
    nature: 'transient',
    wayOut: `see kubectl logs ${podName} --namespace ${namespace}`,
    object: { kind: 'Pod', namespace, name: podName },
  };
}

function isOf({ kind, name }: HookAtWork, { metadata }: Pod): boolean {
  if (kind === 'Pod') return metadata.name === name;
  return metadata.ownerReferences?.some((owner) => owner.kind === kind && owner.name === name) === true;
}
