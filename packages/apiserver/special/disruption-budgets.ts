import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { changeObject } from '../verbs/change-object.ts';
import { timestamp } from '../verbs/write-parts.ts';
import type { PodParts } from './pods.ts';

interface BudgetInput {
  readonly parts: PodParts;
  readonly pod: KubeObject;
  readonly budgets: readonly KubeObject[];
  readonly isDryRun: boolean;
}

/**
 * Takes one disruption from the budget of a pod. `false`: none had to be taken, as long as the pod is as it was seen.
 * @throws StatusError 429 when the budget has none left
 */
export async function spendBudget(
  context: ResourceContext,
  { parts, pod, budgets, isDryRun }: BudgetInput,
): Promise<boolean> {
  const [budget, ...others] = budgets;
  if (!budget) return true;
  if (others.length > 0) {
    throw new StatusError({
      reason: 'InternalError',
      message:
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  }
  if (!isReady(pod) && isFreeForUnready(budget)) return false;
  const resource = parts.registry.find('policy', 'v1', 'poddisruptionbudgets');
  if (!resource) return true;
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
  return true;
}

function isReady(pod: KubeObject): boolean {
  const conditions = isJsonObject(pod['status']) ? pod['status']['conditions'] : undefined;
  return (
    Array.isArray(conditions) &&
    conditions.some((each) => isJsonObject(each) && each['type'] === 'Ready' && each['status'] === 'True')
  );
}

/** A pod that serves nobody can go where enough others do, or where its budget says so. */
function isFreeForUnready(budget: KubeObject): boolean {
  const spec = isJsonObject(budget['spec']) ? budget['spec'] : {};
  if (spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true;
  const status = isJsonObject(budget['status']) ? budget['status'] : {};
  const healthy = Number(status['currentHealthy'] ?? 0);
  const wanted = Number(status['desiredHealthy'] ?? 0);
  return wanted > 0 && healthy >= wanted;
}

function spent(budget: KubeObject, { podName, now }: { podName: string; now: string }): KubeObject {
  const status: JsonObject = isJsonObject(budget['status']) ? budget['status'] : {};
  const generation = typeof status['observedGeneration'] === 'number' ? status['observedGeneration'] : 0;
  const name = budget.metadata.name ?? '';
  if (generation < (budget.metadata.generation ?? 0)) {
    throw refused(
      `The disruption budget ${name} is still being processed by the server.`,
      stillCountedSeconds,
    );
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

const stillCountedSeconds = 10;

/** A time after which to ask again makes clients ask again by themselves, whatever their own limit: only where it will pass soon. */
function refused(cause: string, retryAfterSeconds?: number): StatusError {
  return new StatusError({
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}
