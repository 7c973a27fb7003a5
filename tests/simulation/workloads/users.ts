import type { KubeObject } from '@sheaf/api';
import type { ReplicaSet } from '@sheaf/api/workload/index';
import { type ResourceRef, refOf, resources } from '@sheaf/client';
import { type Action, People, type PeopleParts } from '../people.ts';
import type { Family } from './families.ts';
import { belongings, names, namespaceNames, nodeNames, owners } from './kinds.ts';
import { type Place, WorkloadObjects } from './workload-objects.ts';

/** With kinds: only where there is one of them. */
type ActionOfKinds = readonly [...Action<Users>, kinds?: readonly ResourceRef[]];

const scaled: readonly ResourceRef[] = [
  resources.deployments,
  resources.statefulSets,
  resources.replicaSets,
  resources.jobs,
];
const templated: readonly ResourceRef[] = [
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
];
const suspended: readonly ResourceRef[] = [resources.jobs, resources.cronJobs];

/** What users do, and how often of 100 actions. */
const actions: readonly ActionOfKinds[] = [
  [16, 'create', (users) => users.create()],
  [16, 'scale', (users) => users.scale(), scaled],
  [16, 'change template', (users) => users.changeTemplate(), templated],
  [5, 'undo', (users) => users.undo(), [resources.deployments]],
  [5, 'pause or go on', (users) => users.turnPause(), [resources.deployments]],
  [5, 'change strategy', (users) => users.changeStrategy(), templated],
  [4, 'suspend or resume', (users) => users.turnSuspension(), suspended],
  [11, 'delete pod', (users) => users.deletePod()],
  [10, 'delete owner', (users) => users.deleteOwner()],
  [3, 'relabel pod', (users) => users.relabelPod()],
  [3, 'delete replica set', (users) => users.delete(resources.replicaSets), [resources.replicaSets]],
  [6, 'cordon or not', (users) => users.turnNode()],
];

const policies = ['Background', 'Foreground', 'Orphan', undefined] as const;
/** People and programs that use workloads. */
export class Users extends People {
  /** Pods that were deleted without waiting for their containers. */
  readonly forced = new Set<string>();
  /** UIDs of jobs that have had a pod taken away by its labels: what it does then is not theirs. */
  readonly disturbedJobs = new Set<string>();
  readonly #family: Family;
  readonly #actions: readonly Action<Users>[];
  readonly #make: WorkloadObjects;

  constructor(parts: PeopleParts & { readonly family: Family }) {
    super(parts);
    const { simulation, family } = parts;
    this.#family = family;
    this.#actions = actions
      .filter(([, , , kinds]) => !kinds || this.#own(kinds).length > 0)
      .map(([weight, name, act]) => [weight, name, act]);
    this.#make = new WorkloadObjects(simulation.random, family.sizes);
  }

  act(): void {
    this.actAs(this, this.#actions);
  }

  deleteEverything(): void {
    this.deleteAll(belongings);
  }

  /** All nodes take pods again. */
  uncordon(): void {
    for (const name of nodeNames) this.perform(`uncordon ${name}`, () => this.#setNode(name, []));
  }

  async create(): Promise<void> {
    const make = this.#make;
    const makers: readonly (readonly [ResourceRef, readonly string[], (place: Place) => KubeObject])[] = [
      [resources.deployments, names.deployments, (place) => make.deployment(place)],
      [resources.deployments, names.deployments, (place) => make.deployment(place)],
      [resources.statefulSets, names.statefulSets, (place) => make.statefulSet(place)],
      [resources.statefulSets, names.statefulSets, (place) => make.statefulSet(place)],
      [resources.daemonSets, names.daemonSets, (place) => make.daemonSet(place)],
      [resources.jobs, names.jobs, (place) => make.job(place)],
      [resources.jobs, names.jobs, (place) => make.job(place)],
      [resources.cronJobs, names.cronJobs, (place) => make.cronJob(place)],
      [resources.replicaSets, names.replicaSets, (place) => make.replicaSet(place)],
    ];
    const [resource, ofKind, maker] = this.pick(makers.filter(([kind]) => this.#family.owners.has(kind)));
    const namespace = this.below(4) > 0 ? namespaceNames[0] : this.pick(namespaceNames);
    await this.client.create(resource, maker({ namespace, name: this.pick(ofKind) }));
  }

  async scale(): Promise<void> {
    const resource = this.pick(this.#own(scaled));
    const field = resource === resources.jobs ? 'parallelism' : 'replicas';
    // Who scales a set of a deployment is told otherwise by it at once.
    const isFree = ({ metadata }: KubeObject): boolean => metadata.ownerReferences === undefined;
    await this.#change(resource, (object) =>
      isFree(object) || resource !== resources.replicaSets ? { spec: { [field]: this.#make.size() } } : {},
    );
  }

  async changeTemplate(): Promise<void> {
    await this.#change(this.pick(this.#own(templated)), ({ metadata }) => ({
      spec: { template: this.#make.template(metadata.name ?? '') },
    }));
  }

  /** As kubectl does it: the template of an earlier replica set is written back. */
  async undo(): Promise<void> {
    const set = this.some<ReplicaSet>(resources.replicaSets);
    const owner = set?.metadata.ownerReferences?.find(({ kind }) => kind === 'Deployment');
    if (!set || !owner) return;
    const { metadata = {}, spec } = set.spec.template;
    const { 'pod-template-hash': _, ...labels } = metadata.labels ?? {};
    const place = { namespace: set.metadata.namespace ?? '', name: owner.name };
    await this.client.patch(resources.deployments, place, {
      type: 'merge',
      body: { spec: { template: { metadata: { labels }, spec } } } as never,
    });
  }

  async turnPause(): Promise<void> {
    await this.#change(resources.deployments, (deployment) => ({
      spec: { paused: (deployment['spec'] as { readonly paused?: boolean }).paused !== true },
    }));
  }

  async changeStrategy(): Promise<void> {
    const make = this.#make;
    const strategies: readonly (readonly [ResourceRef, string, () => object])[] = [
      [resources.deployments, 'strategy', () => make.strategy()],
      [resources.statefulSets, 'updateStrategy', () => make.statefulStrategy()],
      [resources.daemonSets, 'updateStrategy', () => make.daemonStrategy()],
    ];
    const [resource, field, strategy] = this.pick(
      strategies.filter(([kind]) => this.#family.owners.has(kind)),
    );
    await this.#change(resource, () => ({ spec: { [field]: strategy() } }));
  }

  async turnSuspension(): Promise<void> {
    await this.#change(this.pick(this.#own(suspended)), (object) => ({
      spec: { suspend: (object['spec'] as { readonly suspend?: boolean }).suspend !== true },
    }));
  }

  async deletePod(): Promise<void> {
    const pod = this.some(resources.pods);
    if (!pod) return;
    const isForced = this.below(6) === 0;
    if (isForced) this.forced.add(pod.metadata.uid ?? '');
    await this.client.delete(resources.pods, refOf(pod), isForced ? { gracePeriodSeconds: 0 } : {});
  }

  async deleteOwner(): Promise<void> {
    await this.delete(this.pick(this.#own(owners)));
  }

  async delete(resource: ResourceRef): Promise<void> {
    const object = this.some(resource);
    if (!object) return;
    const propagationPolicy = this.pick(policies);
    await this.client.delete(resource, refOf(object), propagationPolicy ? { propagationPolicy } : {});
  }

  /** Away from its owner, and perhaps back. */
  async relabelPod(): Promise<void> {
    await this.#change(resources.pods, ({ metadata: { labels = {}, ownerReferences = [] } }) => {
      for (const { uid } of ownerReferences) this.disturbedJobs.add(uid);
      const label = labels['app'] === undefined ? 'batch.kubernetes.io/controller-uid' : 'app';
      const value = labels[label] ?? '';
      const next = value.startsWith('not-') ? value.slice(4) : `not-${value}`;
      return { metadata: { labels: { [label]: next } } };
    });
  }

  async turnNode(): Promise<void> {
    const name = this.pick(nodeNames);
    const taints = this.pick([
      [],
      [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
      [{ key: 'example.com/out', effect: 'NoExecute' }],
    ]);
    await this.#setNode(name, taints);
  }

  #setNode(name: string, taints: readonly { readonly key: string }[]): Promise<unknown> {
    const unschedulable = taints.some(({ key }) => key === 'node.kubernetes.io/unschedulable');
    const body = { spec: { unschedulable: unschedulable ? true : null, taints } };
    return this.client.patch(resources.nodes, { name }, { type: 'merge', body: body as never });
  }

  async #change(resource: ResourceRef, change: (object: KubeObject) => object): Promise<void> {
    const object = this.some(resource);
    if (!object) return;
    const body = change(object) as never;
    await this.client.patch(resource, refOf(object), { type: 'merge', body });
  }

  /** Those of the kinds that are there. */
  #own(kinds: readonly ResourceRef[]): readonly ResourceRef[] {
    return kinds.filter((kind) => this.#family.owners.has(kind));
  }
}
