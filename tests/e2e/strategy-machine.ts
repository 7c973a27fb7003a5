import { type Client, resources } from '@sheaf/client';
import { at, eventually, type Installation } from './installation.ts';
import type { Row, Strategy } from './run-strategy-table.ts';
import { askGuest, type GuestDeed, tellGuest } from './tiny-machines.ts';
import type { WatchedMachines } from './watched-machines.ts';

interface World {
  readonly sheaf: Installation;
  readonly client: Client;
  readonly watched: WatchedMachines;
}

/** One machine of the table, and what is done to it. */
export class StrategyMachine {
  readonly name: string;
  readonly strategy: Strategy;
  readonly row: Row;
  readonly #world: World;
  #refusal = '';

  constructor(world: World, { row, strategy }: { readonly row: Row; readonly strategy: Strategy }) {
    this.#world = world;
    this.row = row;
    this.strategy = strategy;
    this.name = `${strategy.toLowerCase()}-${row.event}`;
  }

  get #place() {
    return { namespace: 'default', name: this.name };
  }

  /** As its strategy has it when it begins; each but a halted one runs. */
  async bringUp(): Promise<void> {
    const byUser = this.strategy === 'Manual' || this.strategy === 'Halted';
    if (byUser) {
      await this.shows('Stopped');
      await this.ask('start');
    }
    await this.shows('Running');
    await askGuest(this.#world.client, this.name);
    if (this.strategy !== 'Halted') return;
    const halted = { spec: { runStrategy: 'Halted' } };
    await this.#world.client.patch(resources.virtualMachines, this.#place, { type: 'merge', body: halted });
    await this.#isOff();
  }

  async shows(status: string): Promise<void> {
    const { machines } = this.#world.watched;
    await eventually(
      async () => machines.get(this.name)?.status?.printableStatus === status,
      { goal: `${this.name} is ${status}` },
      () => JSON.stringify(machines.get(this.name)?.status),
    );
  }

  /** A request of its user; a refusal is part of the outcome. */
  async ask(verb: 'start' | 'stop' | 'restart'): Promise<void> {
    const target = `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/${this.name}/${verb}`;
    const { status } = await this.#world.client.send({ method: 'PUT', target, body: '{}' });
    if (status !== 202) this.#refusal = `refused ${status}`;
  }

  async stopped(): Promise<void> {
    if (this.strategy !== 'Halted') await this.ask('stop');
    await this.#isOff();
  }

  async #isOff(): Promise<void> {
    const { instances, machines } = this.#world.watched;
    const isAsked = (): boolean => machines.get(this.name)?.status?.stateChangeRequests !== undefined;
    await eventually(async () => !instances.has(this.name) && !isAsked(), { goal: `${this.name} is off` });
  }

  /** Where nothing runs there is nobody to do it. */
  async inGuest(deed: GuestDeed): Promise<void> {
    if (this.strategy !== 'Halted') await tellGuest(this.#world.client, this.name, deed);
  }

  async killProcess(): Promise<void> {
    if (this.strategy === 'Halted') return;
    const { client, sheaf } = this.#world;
    const { metadata } = await client.get(resources.virtualMachineInstances, this.#place);
    process.kill(await sheaf.processOf(metadata.uid ?? ''), 'SIGKILL');
  }

  async remove(): Promise<void> {
    await this.#world.client.delete(resources.virtualMachines, this.#place);
  }

  outcome(): string {
    const { machines, instances, made } = this.#world.watched;
    const machine = machines.get(this.name);
    const instance = instances.get(this.name);
    if (!machine) return instance ? 'gone, but for its instance' : 'gone';
    const count = made.get(this.name)?.size ?? 0;
    const now = machine.spec.runStrategy;
    const parts = [
      phaseOf(instance),
      count > 1 && `made ${count}`,
      now !== this.strategy && `is ${now}`,
      this.#refusal,
    ];
    return parts.filter(Boolean).join(', ');
  }
}

function phaseOf(instance: object | undefined): string {
  if (!instance) return 'off';
  const phase = String(at(instance, 'status', 'phase'));
  if (at(instance, 'metadata', 'deletionTimestamp') !== undefined) return `${phase}, leaving`;
  return phase === 'Running' ? 'running' : phase;
}
