import type { KubeObject } from '@sheaf/api';
import { type Clock, type DisposableStore, disposable, type JsonObject, type Random } from '@sheaf/base';
import type { AdmissionChain } from '../admission/chain.ts';
import type { AdmissionOperation, AdmissionRequest } from '../admission/plugin.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource, Subresource } from '../registry/resource.ts';

/** What every write needs besides its request. */
export interface WriteParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
}

export interface AdmissionInput {
  readonly operation: AdmissionOperation;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly options: JsonObject;
  readonly dryRun: boolean;
  /** When it is not that of the URL, e.g. for each object of a collection. */
  readonly name?: string;
  readonly subresource?: Subresource;
  /** Ends when the write is done: what admission has reserved ends with it. */
  readonly lifetime: DisposableStore;
}

export function admissionRequest(
  context: ResourceContext,
  resource: Resource,
  input: AdmissionInput,
): AdmissionRequest {
  const { group, version, plural, kind, namespaced } = resource;
  const subject = input.object ?? input.oldObject;
  return {
    operation: input.operation,
    kind: input.subresource?.kind ?? { group, version, kind },
    resource: { group, version, resource: plural },
    subresource: context.info.subresource,
    namespaced,
    namespace: subject?.metadata.namespace ?? context.info.namespace,
    name: input.name ?? (context.info.name || (subject?.metadata.name ?? '')),
    object: input.object,
    oldObject: input.oldObject,
    options: input.options,
    dryRun: input.dryRun,
    user: context.user,
    warn: (text) => context.warnings.add(text),
    annotate: (key, value) => context.annotate(key, value),
    get signal() {
      return context.request.signal;
    },
    onEnd: (task) => void input.lifetime.add(disposable(task)),
  };
}

let lastSecond = { second: 0, text: '' };

/** RFC 3339 in seconds, UTC: how the API writes times. */
export function timestamp(clock: Clock): string {
  const second = Math.floor(clock.now() / 1000);
  if (second !== lastSecond.second)
    lastSecond = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  return lastSecond.text;
}
