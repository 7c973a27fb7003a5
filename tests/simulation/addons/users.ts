import { retryAnnotation } from '@sheaf/api/addon/index';
import type { Addon } from '@sheaf/api/virtualization/index';
import type { JsonValue, Random } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import type { Scheduler } from '@sheaf/testkit';
import type { Objects } from '../objects.ts';
import { addonNames, namespace } from './kinds.ts';

export interface UsersOptions {
  /** Told of the UIDs of Jobs that are deleted. */
  readonly onJobDeleted: (uid: string) => void;
  readonly client: () => Client;
  readonly objects: Objects;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

type Action = (users: Users, name: string) => Promise<unknown>;

/** What users do with add-ons, and how often of 100 times. */
const actions: readonly (readonly [weight: number, name: string, act: Action])[] = [
  [34, 'toggle', (users, name) => users.toggle(name)],
  [12, 'toggle quickly', (users, name) => users.toggleQuickly(name)],
  [20, 'change values', (users, name) => users.changeValues(name)],
  [10, 'try again', (users, name) => users.tryAgain(name)],
  [6, 'delete the chart', (users, name) => users.deleteOne(resources.helmCharts, name)],
  [5, 'delete the Job', (users, name) => users.deleteOne(resources.jobs, `helm-install-${name}`)],
  [4, 'delete the removal', (users, name) => users.deleteOne(resources.jobs, `helm-delete-${name}`)],
  [5, 'delete a pod', (users) => users.deletePod()],
  [4, 'delete and make anew', (users, name) => users.makeAnew(name)],
];

/** They act past the scheduler: at once, and are answered. What is refused is their own affair. */
export class Users {
  readonly #options: UsersOptions;
  #texts = 0;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  async act(): Promise<void> {
    const { random, scheduler } = this.#options;
    const names = addonNames.slice(0, Math.max(1, this.addons().length));
    const name = names[random.integer(names.length)] ?? 'web';
    let choice = random.integer(100);
    for (const [weight, word, act] of actions) {
      choice -= weight;
      if (choice >= 0) continue;
      scheduler.note(`users: ${word} ${name}`);
      await this.#quietly(() => act(this, name));
      return;
    }
  }

  addons(): readonly Addon[] {
    return this.#options.objects.all(resources.addons);
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#patch(name, { spec: { enabled } });
  }

  async toggle(name: string): Promise<void> {
    const addon = this.addons().find(({ metadata }) => metadata.name === name);
    if (addon) await this.setEnabled(name, !addon.spec.enabled);
  }

  async toggleQuickly(name: string): Promise<void> {
    const times = 2 + this.#options.random.integer(5);
    for (let time = 0; time < times; time++) await this.toggle(name);
  }

  async changeValues(name: string): Promise<void> {
    await this.#patch(name, { spec: { valuesContent: `text: ${++this.#texts}` } });
  }

  async tryAgain(name: string): Promise<void> {
    await this.#patch(name, { metadata: { annotations: { [retryAnnotation]: String(++this.#texts) } } });
  }

  async deleteOne(resource: ResourceRef, name: string): Promise<void> {
    const found = this.#options.objects.all(resource).find(({ metadata }) => metadata.name === name);
    if (resource.plural === resources.jobs.plural && found)
      this.#options.onJobDeleted(found.metadata.uid ?? '');
    await this.#options.client().delete(resource, { namespace, name }, { propagationPolicy: 'Background' });
  }

  async deletePod(): Promise<void> {
    const pods = this.#options.objects.all(resources.pods);
    const name = pods[this.#options.random.integer(pods.length)]?.metadata.name;
    if (name !== undefined) await this.deleteOne(resources.pods, name);
  }

  async makeAnew(name: string): Promise<void> {
    await this.deleteOne(resources.addons, name);
    await this.make(name);
  }

  async quietly(act: () => Promise<unknown>): Promise<void> {
    await this.#quietly(act);
  }

  async make(name: string): Promise<void> {
    const addon: Addon = {
      metadata: { namespace, name },
      spec: { repo: 'http://charts', chart: name, version: '1', enabled: false, valuesContent: '' },
    };
    await this.#quietly(() => this.#options.client().create(resources.addons, addon));
  }

  async #patch(name: string, body: JsonValue): Promise<void> {
    await this.#options.client().patch(resources.addons, { namespace, name }, { type: 'merge', body });
  }

  async #quietly(act: () => Promise<unknown>): Promise<void> {
    await act().catch(() => undefined);
  }
}
