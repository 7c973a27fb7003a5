import { type KubeObject, type LabelSelector, labelMatcherOf, matchesLabels } from '@sheaf/api';
import { badRequest, isJsonObject, StatusError } from '@sheaf/base';
import { type DeleteOptions, readDeleteOptions } from '../options/delete-options.ts';
import { readWriteOptions } from '../options/write-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { deleteAt } from '../verbs/delete.ts';
import { methodNotAllowed } from '../verbs/errors.ts';
import { getObject } from '../verbs/get.ts';
import { requestedPlace } from '../verbs/incoming-object.ts';
import { spendBudget } from './disruption-budgets.ts';
import type { PodParts } from './pods.ts';
import { answerWith, createdStatus, readPosted } from './posted-object.ts';

/** POST on `pods/NAME/eviction`: a delete that asks the disruption budgets first. */
export function evictionHandlers(parts: PodParts, views: LiveViews): ReadonlyMap<string, SpecialHandler> {
  return new Map([[specialKey('', 'pods', 'eviction'), eviction(parts, views)]]);
}

function eviction(parts: PodParts, views: LiveViews): SpecialHandler {
  return async (context, resource) => {
    if (context.info.verb !== 'create') throw methodNotAllowed();
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions');
    const posted = await readPosted(context, { group: 'policy', version: 'v1', kind: 'Eviction' });
    if (posted.metadata.name && posted.metadata.name !== context.info.name)
      throw badRequest('name in URL does not match name in Eviction object');
    const given = isJsonObject(posted['deleteOptions']) ? posted['deleteOptions'] : {};
    const options = readDeleteOptions(dryRun ? { ...given, dryRun: ['All'] } : given, new URLSearchParams());
    await evict(context, resource, { parts, views, options });
    return answerWith(context, 201, createdStatus);
  };
}

interface EvictionInput {
  readonly parts: PodParts;
  readonly views: LiveViews;
  readonly options: DeleteOptions;
}

async function evict(
  context: ResourceContext,
  resource: Resource,
  { parts, views, options }: EvictionInput,
): Promise<void> {
  const place = requestedPlace(context, resource);
  const isDryRun = options.dryRun;
  for (let attempt = 1; ; attempt++) {
    const pod = (await getObject(context, resource, parts)).object;
    const isPaid =
      !needsBudget(pod) ||
      (await spendBudget(context, { parts, pod, budgets: budgetsOf(views, pod), isDryRun }));
    try {
      await deleteAt(context, resource, { place, options: isPaid ? options : asSeen(options, pod), parts });
      return;
    } catch (error) {
      // It may have become ready meanwhile: then its budgets have to be asked.
      if (isPaid || attempt >= mostAttempts || !StatusError.is(error, 'Conflict')) throw error;
    }
  }
}

const mostAttempts = 5;

/** Deletes the pod only as it was looked at; what the caller demands holds all the same. */
function asSeen(options: DeleteOptions, { metadata }: KubeObject): DeleteOptions {
  const { resourceVersion = metadata.resourceVersion ?? '' } = options.preconditions;
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } };
}

const ended = new Set<unknown>(['Succeeded', 'Failed', 'Pending']);

/** Pods that have ended, wait for a node or are being deleted already disrupt nothing. */
function needsBudget(pod: KubeObject): boolean {
  const status = isJsonObject(pod['status']) ? pod['status'] : {};
  return !ended.has(status['phase']) && pod.metadata.deletionTimestamp === undefined;
}

function budgetsOf(views: LiveViews, pod: KubeObject): readonly KubeObject[] {
  return views
    .of('policy', 'poddisruptionbudgets')
    .list(pod.metadata.namespace ?? '')
    .filter((budget) => {
      const spec = isJsonObject(budget['spec']) ? budget['spec'] : {};
      return matchesLabels(
        labelMatcherOf(spec['selector'] as LabelSelector | undefined),
        pod.metadata.labels,
      );
    });
}
