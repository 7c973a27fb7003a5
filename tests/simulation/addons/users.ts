import { retryAnnotation } from '@sheaf/api/addon/index';
import type { Addon } from '@sheaf/api/virtualization/index';
import type { JsonValue } from '@sheaf/base';
import { type ResourceRef, resources } from '@sheaf/client';
import { type Action, People, type PeopleParts } from '../people.ts';
import { addonNames, namespace } from './kinds.ts';

interface UsersParts extends PeopleParts {
  /** Told of the UIDs of Jobs that are deleted. */
  readonly onJobDeleted: (uid: string) => void;
}

/** What users do with add-ons, and how often of 100 times. */
const actions: readonly Action<Users>[] = [
  [34, 'toggle', (users) => users.toggle(users.name())],
  [12, 'toggle quickly', (users) => users.toggleQuickly(users.name())],
  [20, 'change values', (users) => users.changeValues(users.name())],
  [10, 'try again', (users) => users.tryAgain(users.name())],
  [6, 'delete the chart', (users) => users.deleteOne(resources.helmCharts, users.name())],
  [5, 'delete the Job', (users) => users.deleteOne(resources.jobs, `helm-install-${users.name()}`)],
  [4, 'delete the removal', (users) => users.deleteOne(resources.jobs, `helm-delete-${users.name()}`)],
  [5, 'delete a pod', (users) => users.deletePod()],
  [4, 'delete and make anew', (users) => users.makeAnew(users.name())],
];

/** People who have add-ons. */
export class Users extends People {
  readonly #onJobDeleted: (uid: string) => void;
  #texts = 0;

  constructor(parts: UsersParts) {
    super(parts);
    this.#onJobDeleted = parts.onJobDeleted;
  }

  act(): void {
    this.actAs(this, actions);
  }

  /** Of one of the add-ons that there are; of the first, where there is none for a moment. */
  name(): string {
    return this.pick(addonNames.slice(0, Math.max(1, this.addons().length)));
  }

  addons(): readonly Addon[] {
    return this.objects.all(resources.addons);
  }

  /** All of them, and what has failed is tried again, also for the chart of an add-on that is gone. */
  switchOff(): void {
    for (const { metadata } of this.addons()) {
      const { name = '' } = metadata;
      this.perform(`switch off ${name}`, () => this.setEnabled(name, false));
      this.perform(`try again ${name}`, () => this.tryAgain(name));
    }
    for (const { metadata } of this.objects.all(resources.helmCharts))
      this.perform(`try ${metadata.name} again`, () =>
        this.#retry(resources.helmCharts, metadata.name ?? ''),
      );
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#patch(name, { spec: { enabled } });
  }

  async toggle(name: string): Promise<void> {
    const addon = this.addons().find(({ metadata }) => metadata.name === name);
    if (addon) await this.setEnabled(name, !addon.spec.enabled);
  }

  async toggleQuickly(name: string): Promise<void> {
    const times = 2 + this.below(5);
    for (let time = 0; time < times; time++) await this.toggle(name);
  }

  async changeValues(name: string): Promise<void> {
    await this.#patch(name, { spec: { valuesContent: `text: ${++this.#texts}` } });
  }

  async tryAgain(name: string): Promise<void> {
    await this.#retry(resources.addons, name);
  }

  async deleteOne(resource: ResourceRef, name: string): Promise<void> {
    const found = this.objects.all(resource).find(({ metadata }) => metadata.name === name);
    if (resource.plural === resources.jobs.plural && found) this.#onJobDeleted(found.metadata.uid ?? '');
    await this.client.delete(resource, { namespace, name }, { propagationPolicy: 'Background' });
  }

  async deletePod(): Promise<void> {
    const name = this.some(resources.pods)?.metadata.name;
    if (name !== undefined) await this.deleteOne(resources.pods, name);
  }

  async makeAnew(name: string): Promise<void> {
    await this.deleteOne(resources.addons, name);
    await this.make(name);
  }

  async make(name: string): Promise<void> {
    const addon: Addon = {
      metadata: { namespace, name },
      spec: { repo: 'http://charts', chart: name, version: '1', enabled: false, valuesContent: '' },
    };
    await this.client.create(resources.addons, addon);
  }

  async #retry(resource: ResourceRef, name: string): Promise<void> {
    const body = { metadata: { annotations: { [retryAnnotation]: String(++this.#texts) } } };
    await this.client.patch(resource, { namespace, name }, { type: 'merge', body });
  }

  async #patch(name: string, body: JsonValue): Promise<void> {
    await this.client.patch(resources.addons, { namespace, name }, { type: 'merge', body });
  }
}
