import type { KubeObject, OwnerReference } from '@sheaf/api';
import { toApiVersion } from '@sheaf/api';
import { type JsonValue, type Random, StatusError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import type { Simulation, TestServer } from '@sheaf/testkit';
import { drawWeighted } from '../weighted.ts';
import { customKinds, definitionOf, holdFinalizer, kinds, namespaceNames, objectNames } from './kinds.ts';
import { type Kept, Picture } from './picture.ts';

type Action = (users: Users) => Promise<void>;

/** What users do, and how often of 100 actions. */
const actions: readonly (readonly [weight: number, name: string, action: Action])[] = [
  [34, 'create', (users) => users.create()],
  [26, 'delete', (users) => users.delete()],
  [12, 'own', (users) => users.changeOwners()],
  [10, 'let go', (users) => users.letGo()],
  [5, 'create namespace', (users) => users.createNamespace()],
  [5, 'delete namespace', (users) => users.deleteNamespace()],
  [5, 'define', (users) => users.define()],
  [3, 'undefine', (users) => users.undefine()],
];

const policies = ['Background', 'Foreground', 'Orphan', undefined] as const;
const foundCodes = new Set([403, 404, 405, 409, 422]);

/** People and programs that use the API while the controllers work. They act at once and take refusals as they come. */
export class Users {
  readonly #simulation: Simulation<TestServer>;
  /** Objects as they were made: some are gone by now, and make good owners. */
  readonly #made: Kept[] = [];

  constructor(simulation: Simulation<TestServer>) {
    this.#simulation = simulation;
  }

  get #random(): Random {
    return this.#simulation.random;
  }

  get #client(): Client {
    return this.#simulation.server.client;
  }

  async act(): Promise<void> {
    const [, name, action] = drawWeighted(this.#random, actions);
    this.#simulation.scheduler.note(`user: ${name}`);
    await action(this).catch(ignoreRefusal);
  }

  async create(): Promise<void> {
    const resource = this.#pick(kinds);
    const owners = Array.from({ length: this.#random.integer(3) }, () => this.#reference());
    const object: KubeObject = {
      metadata: {
        name: this.#pick(objectNames),
        ...(resource.namespaced ? { namespace: this.#pick(namespaceNames) } : {}),
        ownerReferences: owners.filter((owner) => owner !== undefined),
        finalizers: this.#finalizers(),
      },
    };
    if (resource === resources.clusterRoles) object['rules'] = [];
    const made = await this.#client.create(resource, object);
    this.#made.push({ resource, object: made });
  }

  async delete(): Promise<void> {
    const kept = this.#someKept();
    if (!kept) return;
    const policy = this.#pick(policies);
    await this.#client.delete(kept.resource, refOf(kept.object), policy ? { propagationPolicy: policy } : {});
  }

  async changeOwners(): Promise<void> {
    const kept = this.#someKept();
    const added = this.#reference();
    if (!kept) return;
    const present = kept.object.metadata.ownerReferences ?? [];
    const next = this.#random.integer(3) === 0 || !added ? present.slice(1) : [...present, added];
    await this.#patch(kept, { ownerReferences: next.map((owner) => ({ ...owner })) });
  }

  /** Whoever has set a finalizer takes it off. */
  async letGo(): Promise<void> {
    const held = this.#kept().filter(({ object }) => object.metadata.finalizers?.includes(holdFinalizer));
    if (held.length > 0) await this.#release(this.#pick(held));
  }

  /** Nobody holds anything any more. */
  async letAllGo(): Promise<void> {
    this.#simulation.scheduler.note('user: let all go');
    for (const kept of new Picture(this.#simulation.server).all)
      if (kept.object.metadata.finalizers?.includes(holdFinalizer))
        await this.#release(kept).catch(ignoreRefusal);
  }

  async createNamespace(): Promise<void> {
    await this.#client.create(resources.namespaces, { metadata: { name: this.#pick(namespaceNames) } });
  }

  async deleteNamespace(): Promise<void> {
    await this.#client.delete(resources.namespaces, { name: this.#pick(namespaceNames) });
  }

  async define(): Promise<void> {
    await this.#client.create(resources.customResourceDefinitions, definitionOf(this.#pick(customKinds)));
  }

  async undefine(): Promise<void> {
    const { plural, group } = this.#pick(customKinds);
    await this.#client.delete(resources.customResourceDefinitions, { name: `${plural}.${group}` });
  }

  async #release(kept: Kept): Promise<void> {
    const finalizers = (kept.object.metadata.finalizers ?? []).filter((name) => name !== holdFinalizer);
    await this.#patch(kept, { finalizers });
  }

  async #patch({ resource, object }: Kept, fields: Record<string, JsonValue>): Promise<void> {
    const body = { metadata: fields };
    await this.#client.patch(resource, refOf(object), { type: 'merge', body });
  }

  /** A reference to something that is or was there; now and then one that is wrong. */
  #reference(): OwnerReference | undefined {
    if (this.#made.length === 0) return undefined;
    const { resource, object } = this.#pick(this.#made.slice(-12));
    const { name = '', uid = '' } = object.metadata;
    const slip = this.#random.integer(20);
    return {
      apiVersion: toApiVersion(resource.group, resource.version),
      kind: resource.kind,
      name: slip === 0 ? this.#pick(objectNames) : name,
      uid: slip === 1 ? '11111111-1111-4111-8111-111111111111' : uid,
      ...(this.#random.integer(2) === 0 ? { blockOwnerDeletion: true } : {}),
    };
  }

  #finalizers(): string[] {
    const chance = this.#random.integer(24);
    if (chance < 3) return [holdFinalizer];
    if (chance === 3) return ['orphan'];
    return chance === 4 ? ['foregroundDeletion'] : [];
  }

  #kept(): readonly Kept[] {
    const plurals = new Set(kinds.map(({ plural }) => plural));
    return new Picture(this.#simulation.server).all.filter(
      ({ resource, object }) => plurals.has(resource.plural) && object.metadata.name !== 'kube-root-ca.crt',
    );
  }

  #someKept(): Kept | undefined {
    const kept = this.#kept();
    return kept.length === 0 ? undefined : this.#pick(kept);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.integer(items.length)]!;
  }
}

function ignoreRefusal(error: unknown): void {
  if (!StatusError.is(error) || !foundCodes.has(error.code)) throw error;
}
