import { type Clock, toError } from '@sheaf/base';
import type { Hypervisor, MachineObservation } from '@sheaf/ports';

/** What a snapshot that was taken under a running machine is worth, and why. */
export interface Consistency {
  /** `filesystem`: the guest had its file systems frozen. `crash`: as after a power cut. */
  readonly level: 'filesystem' | 'crash';
  readonly reason: string;
}

export interface FreezeParts {
  readonly hypervisor: Pick<Hypervisor, 'askAgent'>;
  readonly clock: Clock;
  readonly freezes: Freezes;
}

/** As long as a guest may stay frozen for us; whatever is still to be done by then is done without. */
const freezeLimitMs = 10_000;

/** The guests that this process holds frozen. One at a time: a thaw for one snapshot must not undo the freeze for another. */
export class Freezes {
  readonly #ours = new Set<string>();
  readonly #turns = new Map<string, Promise<unknown>>();

  has(machineId: string): boolean {
    return this.#ours.has(machineId);
  }

  begin(machineId: string): void {
    this.#ours.add(machineId);
  }

  end(machineId: string): void {
    this.#ours.delete(machineId);
  }

  /** After all that came before for this machine. */
  async inTurn<T>(machineId: string, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(machineId) ?? Promise.resolve();
    const own = before.then(act, act);
    this.#turns.set(machineId, own);
    try {
      return await own;
    } finally {
      if (this.#turns.get(machineId) === own) this.#turns.delete(machineId);
    }
  }
}

export interface FrozenAct {
  readonly machine: MachineObservation;
  /** What is to happen while the guest is frozen. It happens in any case. */
  readonly act: () => Promise<void>;
  /** Writes down that the guest is about to be frozen for this, so that another life of this process thaws it. */
  readonly mark: () => Promise<void>;
  /** False: it has been tried often enough. */
  readonly mayFreeze: boolean;
  /** A freeze of ours, of this or of an earlier life, has not been ended. */
  readonly isLeftFrozen: boolean;
}

/**
 * Does something while no file system of the guest is written to. A guest that cannot be frozen does not keep it from being done.
 * What was frozen for this is thawed, whatever happens in between. @throws what `act` throws, or the thaw: then it is still to come
 */
export async function whileFrozen(
  parts: FreezeParts,
  { machine, act, mark, mayFreeze, isLeftFrozen }: FrozenAct,
  signal: AbortSignal,
): Promise<Consistency> {
  const obstacle = obstacleOf(machine);
  if (obstacle !== undefined) return await unfrozen(act, obstacle);
  if (isLeftFrozen) await thawIfFrozen(parts, machine.id, signal);
  const status = await statusOf(parts, machine.id, signal);
  if (status.error !== undefined) return await unfrozen(act, refusalText(status.error));
  if (status.isFrozen) {
    await act();
    return { level: 'filesystem', reason: 'the guest had been frozen by someone else' };
  }
  if (!mayFreeze) return await unfrozen(act, 'the guest did not freeze in time, however often it was asked');
  await mark();
  return await betweenFreezeAndThaw(parts, { id: machine.id, act }, signal);
}

function obstacleOf({ state, isAgentConnected }: MachineObservation): string | undefined {
  if (state !== 'running') return `the machine was ${state}, so its guest could not be asked`;
  return isAgentConnected
    ? undefined
    : 'no guest agent listens: install and start qemu-guest-agent in the guest';
}

async function unfrozen(act: () => Promise<void>, reason: string): Promise<Consistency> {
  await act();
  return { level: 'crash', reason };
}

function refusalText(error: Error): string {
  return `the guest could not be frozen: ${error.message}`;
}

/** True if the guest says that its file systems are frozen. One that says nothing is taken not to be. */
export async function isFrozen(
  parts: Pick<FreezeParts, 'hypervisor'>,
  machine: MachineObservation,
  signal: AbortSignal,
): Promise<boolean> {
  if (obstacleOf(machine) !== undefined) return false;
  return (await statusOf(parts, machine.id, signal)).isFrozen;
}

async function statusOf(
  { hypervisor }: Pick<FreezeParts, 'hypervisor'>,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly isFrozen: boolean; readonly error?: Error }> {
  try {
    const status = await hypervisor.askAgent(id, { execute: 'guest-fsfreeze-status' }, signal);
    return { isFrozen: status === 'frozen' };
  } catch (error) {
    if (signal.aborted) throw error;
    return { isFrozen: false, error: toError(error) };
  }
}

async function betweenFreezeAndThaw(
  parts: FreezeParts,
  { id, act }: { readonly id: string; readonly act: () => Promise<void> },
  signal: AbortSignal,
): Promise<Consistency> {
  const failure = await freeze(parts, id, signal);
  if (failure) return await unfrozen(act, refusalText(failure));
  let isOverdue = false;
  const due = parts.clock.schedule(freezeLimitMs, () => {
    isOverdue = true;
    // Whoever waits for what is overdue thaws again, and is told if that fails.
    thaw(parts, id).catch(() => undefined);
  });
  let count: unknown;
  try {
    await act();
  } finally {
    due.dispose();
    count = await thaw(parts, id);
  }
  return verdictOf(isOverdue, count);
}

function verdictOf(isOverdue: boolean, thawed: unknown): Consistency {
  if (isOverdue)
    return {
      level: 'crash',
      reason: `the guest was thawed after ${freezeLimitMs / 1000} s, before all was done`,
    };
  if (thawed === 0)
    return { level: 'crash', reason: 'the guest had thawed its file systems by itself, or has none' };
  return frozen;
}

const frozen: Consistency = { level: 'filesystem', reason: 'the guest had its file systems frozen' };

/** Why it could not be done. What the guest has frozen before it gave up is thawed. */
async function freeze(parts: FreezeParts, id: string, signal: AbortSignal): Promise<Error | undefined> {
  parts.freezes.begin(id);
  try {
    await parts.hypervisor.askAgent(id, { execute: 'guest-fsfreeze-freeze' }, signal);
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    await thawIfFrozen(parts, id, signal);
    return toError(error);
  }
}

/** True if it was. @throws if the guest does not say */
async function thawIfFrozen(parts: FreezeParts, id: string, signal: AbortSignal): Promise<boolean> {
  const status = await parts.hypervisor.askAgent(id, { execute: 'guest-fsfreeze-status' }, signal);
  if (status === 'frozen') await thaw(parts, id);
  parts.freezes.end(id);
  return status === 'frozen';
}

/** Also when nobody waits for it any more. */
async function thaw({ hypervisor, freezes }: FreezeParts, id: string): Promise<unknown> {
  const count = await hypervisor.askAgent(
    id,
    { execute: 'guest-fsfreeze-thaw' },
    new AbortController().signal,
  );
  freezes.end(id);
  return count;
}

/** Ends a freeze that an earlier life, or an earlier try, has left. Tells what was done in it, as far as one can know. */
export async function thawLeftover(
  parts: FreezeParts,
  machine: MachineObservation | undefined,
  signal: AbortSignal,
): Promise<Consistency> {
  const interrupted = {
    level: 'crash',
    reason: 'it was interrupted while the guest was to be frozen',
  } as const;
  const isAlive = machine !== undefined && machine.state !== 'ended';
  // An agent that is gone went with the guest that was frozen.
  if (!isAlive || (machine.state === 'running' && !machine.isAgentConnected)) {
    if (machine) parts.freezes.end(machine.id);
    return interrupted;
  }
  return (await thawIfFrozen(parts, machine.id, signal)) ? frozen : interrupted;
}
