import { type KubeObject, type LabelSelector, labelMatcherOf, matchesLabels } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { readDeleteOptions } from '../options/delete-options.ts';
import { readWriteOptions } from '../options/write-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { changeObject } from '../verbs/change-object.ts';
import { deleteAt } from '../verbs/delete.ts';
import { methodNotAllowed } from '../verbs/errors.ts';
import { getObject } from '../verbs/get.ts';
import { requestedPlace } from '../verbs/incoming-object.ts';
import { timestamp } from '../verbs/write-parts.ts';
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
    const pod = (await getObject(context, resource, parts)).object;
    if (needsBudget(pod))
      await spendBudget(context, { parts, pod, budgets: budgetsOf(views, pod), isDryRun: options.dryRun });
    await deleteAt(context, resource, { place: requestedPlace(context, resource), options, parts });
    return answerWith(context, 201, createdStatus);
  };
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

interface BudgetInput {
  readonly parts: PodParts;
  readonly pod: KubeObject;
  readonly budgets: readonly KubeObject[];
  readonly isDryRun: boolean;
}

async function spendBudget(
  context: ResourceContext,
  { parts, pod, budgets, isDryRun }: BudgetInput,
): Promise<void> {
  const [budget, ...others] = budgets;
  if (!budget) return;
  if (others.length > 0) {
    throw new StatusError({
      reason: 'InternalError',
      message:
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  }
  const resource = parts.registry.find('policy', 'v1', 'poddisruptionbudgets');
  if (!resource) return;
  const options = {
    dryRun: isDryRun,
    fieldManager: 'eviction',
    fieldValidation: 'Ignore',
    force: undefined,
  } as const;
  const { namespace = '', name = '' } = budget.metadata;
  await changeObject(context, resource, {
    place: { namespace, name },
    options,
    parts,
    optionsKind: 'UpdateOptions',
    subresource: 'status',
    make: (current) => spent(current, { podName: pod.metadata.name ?? '', now: timestamp(parts.clock) }),
  });
}

function spent(budget: KubeObject, { podName, now }: { podName: string; now: string }): KubeObject {
  const status: JsonObject = isJsonObject(budget['status']) ? budget['status'] : {};
  const generation = typeof status['observedGeneration'] === 'number' ? status['observedGeneration'] : 0;
  const name = budget.metadata.name ?? '';
  if (generation < (budget.metadata.generation ?? 0)) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`);
  }
  const allowed = typeof status['disruptionsAllowed'] === 'number' ? status['disruptionsAllowed'] : 0;
  if (allowed <= 0) {
    throw refused(
      `The disruption budget ${name} needs ${numberText(status['desiredHealthy'])} healthy pods and has ${numberText(status['currentHealthy'])} currently`,
    );
  }
  const disrupted = isJsonObject(status['disruptedPods']) ? status['disruptedPods'] : {};
  budget['status'] = {
    ...status,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disrupted, [podName]: now },
  };
  return budget;
}

function numberText(value: unknown): string {
  return typeof value === 'number' ? String(value) : '0';
}

function refused(cause: string): StatusError {
  return new StatusError({
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: 'DisruptionBudget', message: cause }], retryAfterSeconds: 10 },
  });
}
