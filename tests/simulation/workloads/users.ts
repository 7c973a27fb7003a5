import type { KubeObject } from '@sheaf/api';
import type { ReplicaSet } from '@sheaf/api/workload/index';
import { StatusError, toError } from '@sheaf/base';
import { type Client, type ResourceRef, refOf, resources } from '@sheaf/client';
import type { Simulation } from '@sheaf/testkit';
import type { KeptServer } from '../kept-servers.ts';
import type { Objects } from '../objects.ts';
import type { Family } from './families.ts';
import { belongings, names, namespaceNames, nodeNames, owners } from './kinds.ts';
import { type Place, WorkloadObjects } from './workload-objects.ts';

type Act = (users: Users) => Promise<unknown>;

/** With kinds: only where there is one of them. */
type Action = readonly [weight: number, name: string, act: Act, kinds?: readonly ResourceRef[]];

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
const actions: readonly Action[] = [
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
/** Refusals, and what a server says that is busy. */
const foundCodes = new Set([400, 403, 404, 405, 409, 422, 500, 503, 504]);

/** People and programs that use the API while the controllers work. They take refusals as they come. */
export class Users {
  /** What no user should ever be told. */
  readonly shocks: string[] = [];
  /** Pods that were deleted without waiting for their containers. */
  readonly forced = new Set<string>();
  /** UIDs of jobs that have had a pod taken away by its labels: what it does then is not theirs. */
  readonly disturbedJobs = new Set<string>();
  readonly #simulation: Simulation<KeptServer>;
  readonly #objects: Objects;
  readonly #family: Family;
  readonly #actions: readonly Action[];
  readonly #weight: number;
  readonly #make: WorkloadObjects;

  constructor(
    simulation: Simulation<KeptServer>,
    { objects, family }: { readonly objects: Objects; readonly family: Family },
  ) {
    this.#simulation = simulation;
    this.#objects = objects;
    this.#family = family;
    this.#actions = actions.filter(([, , , kinds]) => !kinds || this.#own(kinds).length > 0);
    this.#weight = this.#actions.reduce((sum, [weight]) => sum + weight, 0);
    this.#make = new WorkloadObjects(simulation.random, family.sizes);
  }

  get #client(): Client {
    return this.#simulation.server.client;
  }

  /** One action; what it has to wait for goes on by itself. */
  act(): void {
    let choice = this.#below(this.#weight);
    for (const [weight, name, act] of this.#actions) {
      choice -= weight;
      if (choice >= 0) continue;
      this.#do(name, () => act(this));
      return;
    }
  }

  /** Everything is to go; what is refused now is asked again by the next call. */
  deleteEverything(): void {
    for (const resource of belongings)
      for (const object of this.#objects.all(resource))
        if (object.metadata.deletionTimestamp === undefined)
          this.#do(`delete ${resource.plural} ${object.metadata.name}`, () =>
            this.#client.delete(resource, refOf(object)),
          );
  }

  /** All nodes take pods again. */
  uncordon(): void {
    for (const name of nodeNames) this.#do(`uncordon ${name}`, () => this.#setNode(name, []));
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
    const [resource, ofKind, maker] = this.#pick(makers.filter(([kind]) => this.#family.owners.has(kind)));
    const namespace = this.#below(4) > 0 ? namespaceNames[0] : this.#pick(namespaceNames);
    await this.#client.create(resource, maker({ namespace, name: this.#pick(ofKind) }));
  }

  async scale(): Promise<void> {
    const resource = this.#pick(this.#own(scaled));
    const field = resource === resources.jobs ? 'parallelism' : 'replicas';
    // Who scales a set of a deployment is told otherwise by it at once.
    const isFree = ({ metadata }: KubeObject): boolean => metadata.ownerReferences === undefined;
    await this.#change(resource, (object) =>
      isFree(object) || resource !== resources.replicaSets ? { spec: { [field]: this.#make.size() } } : {},
    );
  }

  async changeTemplate(): Promise<void> {
    await this.#change(this.#pick(this.#own(templated)), ({ metadata }) => ({
      spec: { template: this.#make.template(metadata.name ?? '') },
    }));
  }

  /** As kubectl does it: the template of an earlier replica set is written back. */
  async undo(): Promise<void> {
    const set = this.#some<ReplicaSet>(resources.replicaSets);
    const owner = set?.metadata.ownerReferences?.find(({ kind }) => kind === 'Deployment');
    if (!set || !owner) return;
    const { metadata = {}, spec } = set.spec.template;
    const { 'pod-template-hash': _, ...labels } = metadata.labels ?? {};
    const place = { namespace: set.metadata.namespace ?? '', name: owner.name };
    await this.#client.patch(resources.deployments, place, {
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
    const [resource, field, strategy] = this.#pick(
      strategies.filter(([kind]) => this.#family.owners.has(kind)),
    );
    await this.#change(resource, () => ({ spec: { [field]: strategy() } }));
  }

  async turnSuspension(): Promise<void> {
    await this.#change(this.#pick(this.#own(suspended)), (object) => ({
      spec: { suspend: (object['spec'] as { readonly suspend?: boolean }).suspend !== true },
    }));
  }

  async deletePod(): Promise<void> {
    const pod = this.#some(resources.pods);
    if (!pod) return;
    const isForced = this.#below(6) === 0;
    if (isForced) this.forced.add(pod.metadata.uid ?? '');
    await this.#client.delete(resources.pods, refOf(pod), isForced ? { gracePeriodSeconds: 0 } : {});
  }

  async deleteOwner(): Promise<void> {
    await this.delete(this.#pick(this.#own(owners)));
  }

  async delete(resource: ResourceRef): Promise<void> {
    const object = this.#some(resource);
    if (!object) return;
    const propagationPolicy = this.#pick(policies);
    await this.#client.delete(resource, refOf(object), propagationPolicy ? { propagationPolicy } : {});
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
    const name = this.#pick(nodeNames);
    const taints = this.#pick([
      [],
      [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
      [{ key: 'example.com/out', effect: 'NoExecute' }],
    ]);
    await this.#setNode(name, taints);
  }

  #setNode(name: string, taints: readonly { readonly key: string }[]): Promise<unknown> {
    const unschedulable = taints.some(({ key }) => key === 'node.kubernetes.io/unschedulable');
    const body = { spec: { unschedulable: unschedulable ? true : null, taints } };
    return this.#client.patch(resources.nodes, { name }, { type: 'merge', body: body as never });
  }

  async #change(resource: ResourceRef, change: (object: KubeObject) => object): Promise<void> {
    const object = this.#some(resource);
    if (!object) return;
    const body = change(object) as never;
    await this.#client.patch(resource, refOf(object), { type: 'merge', body });
  }

  /** Those of the kinds that are there. */
  #own(kinds: readonly ResourceRef[]): readonly ResourceRef[] {
    return kinds.filter((kind) => this.#family.owners.has(kind));
  }

  #do(name: string, action: () => Promise<unknown>): void {
    this.#simulation.scheduler.note(`user: ${name}`);
    action().catch((error: unknown) => {
      if (!StatusError.is(error) || !foundCodes.has(error.code))
        this.shocks.push(`${name}: ${toError(error).message}`);
    });
  }

  #some<T extends KubeObject>(resource: ResourceRef<T>): T | undefined {
    const all = this.#objects.all(resource);
    return all.length === 0 ? undefined : this.#pick(all);
  }

  #below(limit: number): number {
    return this.#simulation.random.integer(limit);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }
}
