import {
  type Condition,
  findCondition,
  type KubeObject,
  type LabelSelector,
  labelMatcherOf,
  matchesLabels,
  withCondition,
} from '@sheaf/api';
import { isJsonObject, type JsonObject, jsonEqual } from '@sheaf/base';

export interface BudgetStatus {
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly observedGeneration?: number;
  /** Pods whose eviction has been granted, and when. */
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

export interface Budget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
  readonly status?: BudgetStatus;
}

/** What is there, as far as a budget needs to know. */
export interface BudgetFacts {
  /** The pods that its selector matches. */
  readonly pods: readonly KubeObject[];
  /** How many pods their controllers want altogether. */
  readonly wantedPods: number;
  readonly nowMs: number;
  /** The same, as objects carry it. */
  readonly now: string;
}

/** An eviction that has been granted but has not happened for this long is taken for given up. */
const evictionMs = 2 * 60_000;

export function selectedPods(budget: Budget, pods: readonly KubeObject[]): readonly KubeObject[] {
  const matcher = labelMatcherOf(budget.spec?.selector);
  return pods.filter(({ metadata }) => matchesLabels(matcher, metadata.labels ?? {}));
}

/** Whether the number of pods that controllers want matters; otherwise they need not be asked. */
export function dependsOnScale({ spec = {} }: Budget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

/** The budget with a status that is right; `undefined` if it has one. */
export function planBudget(budget: Budget, facts: BudgetFacts): Budget | undefined {
  const { pods, nowMs } = facts;
  const expectedPods = dependsOnScale(budget) ? facts.wantedPods : expectedByCount(budget, pods);
  const desiredHealthy = planDesired(budget, expectedPods);
  const disruptedPods = stillDisrupted(budget, pods, nowMs);
  const currentHealthy = pods.filter(
    (pod) => pod.metadata.deletionTimestamp === undefined && !(nameOf(pod) in disruptedPods) && isReady(pod),
  ).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const observedGeneration = budget.metadata.generation ?? 0;
  const isAllowed = disruptionsAllowed > 0;
  const claim = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
  } as const;
  return withStatus(budget, {
    ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    observedGeneration,
    conditions: withCondition(budget.status?.conditions ?? [], claim, facts.now),
  });
}

/** Where it cannot be known how many pods there should be, none may be disrupted. */
export function planUnknown(budget: Budget, message: string, now: string): Budget | undefined {
  const claim = { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message } as const;
  const old = findCondition(budget.status?.conditions, claim.type)?.observedGeneration;
  const observedGeneration = budget.status?.observedGeneration ?? old ?? 0;
  const { conditions = [] } = budget.status ?? {};
  return withStatus(budget, {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...budget.status,
    disruptionsAllowed: 0,
    conditions: withCondition(conditions, { ...claim, observedGeneration }, now),
  });
}

/** When the first eviction that is under way is to be given up, in milliseconds since 1970. */
export function recheckAt({ status }: Budget): number | undefined {
  const times = Object.values(status?.disruptedPods ?? {}).map((time) => Date.parse(time) + evictionMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

function withStatus(budget: Budget, status: BudgetStatus): Budget | undefined {
  const [next, old] = [status, budget.status ?? {}].map((each) => each as unknown as JsonObject);
  return jsonEqual(next, old) ? undefined : { ...budget, status };
}

function expectedByCount({ spec = {} }: Budget, pods: readonly KubeObject[]): number {
  return spec.minAvailable === undefined ? 0 : pods.length;
}

function planDesired({ spec = {} }: Budget, expectedPods: number): number {
  const { maxUnavailable, minAvailable = 0 } = spec;
  if (maxUnavailable === undefined) return scaled(minAvailable, expectedPods);
  return Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods));
}

/** A number as it is, `n%` of the whole rounded up. */
function scaled(amount: number | string, whole: number): number {
  return typeof amount === 'number' ? amount : Math.ceil((Number.parseInt(amount, 10) * whole) / 100);
}

function stillDisrupted(
  { status }: Budget,
  pods: readonly KubeObject[],
  nowMs: number,
): Record<string, string> {
  const present = new Map(pods.map((pod) => [nameOf(pod), pod]));
  return Object.fromEntries(
    Object.entries(status?.disruptedPods ?? {}).filter(([name, time]) => {
      const pod = present.get(name);
      return pod && pod.metadata.deletionTimestamp === undefined && Date.parse(time) + evictionMs >= nowMs;
    }),
  );
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}

function isReady({ status }: KubeObject): boolean {
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  return findCondition(conditions as Condition[] | undefined, 'Ready')?.status === 'True';
}
