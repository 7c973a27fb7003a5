import { StatusError } from '@sheaf/base';
import type { Client, ObjectRef } from '@sheaf/client';
import type { Hypervisor } from '@sheaf/ports';
import type { LifecycleAnswer, LifecycleTarget, LifecycleWrite } from './lifecycle-request.ts';
import type { ProcessAction, ProcessAnswer } from './process-request.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

/** Whom a request is about, and how it is carried out. */
export interface RequestTarget {
  readonly place: ObjectRef;
  readonly signal: AbortSignal;
  readonly isDryRun?: boolean;
}

/** Reads the machine and its instance, decides, writes. @throws StatusError 404, or what was decided */
export async function changeMachine(
  client: Client,
  target: RequestTarget,
  decide: (target: LifecycleTarget) => LifecycleAnswer,
): Promise<void> {
  const { place, signal } = target;
  await untilFresh(async () => {
    const machine = await client.get(machineResource, place, signal);
    const instance = await client.find(instanceResource, place, signal);
    await writeAll(client, target, decide({ machine, instance }));
  });
}

/** The same for what concerns the instance alone. */
export async function changeInstance(
  client: Client,
  target: RequestTarget,
  decide: (instance: VirtualMachineInstance) => LifecycleAnswer,
): Promise<void> {
  await untilFresh(async () => {
    const instance = await client.get(instanceResource, target.place, target.signal);
    await writeAll(client, target, decide(instance));
  });
}

export async function actOnProcess(
  { client, hypervisor }: { readonly client: Client; readonly hypervisor: Hypervisor },
  { place, signal, isDryRun = false }: RequestTarget,
  decide: (instance: VirtualMachineInstance, machine: VirtualMachine | undefined) => ProcessAnswer,
): Promise<void> {
  const instance = await client.get(instanceResource, place, signal);
  const machine = await client.find(machineResource, place, signal);
  const answer = decide(instance, machine);
  if (!answer.isAccepted) throw answer.error;
  const { uid: id = '' } = instance.metadata;
  if (!isDryRun) await act(hypervisor, { action: answer.action, id }, signal);
}

const attempts = 5;

/** Controllers write as well: what was decided on an object that has changed since is decided again. */
export async function untilFresh<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = attempts - 1; left > 0; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isStale(error)) throw error;
    }
  }
  return await attempt();
}

/** The server's own words; refusals are conflicts as well, and stay. */
function isStale(error: unknown): boolean {
  return StatusError.is(error, 'Conflict') && error.message.includes('the object has been modified');
}

async function writeAll(client: Client, target: RequestTarget, answer: LifecycleAnswer): Promise<void> {
  if (!answer.isAccepted) throw answer.error;
  const query = { dryRun: target.isDryRun ?? false, signal: target.signal };
  for (const write of answer.writes) await writeOne(client, write, query);
}

async function writeOne(
  client: Client,
  write: LifecycleWrite,
  query: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<void> {
  if (write.target === 'instance') await client.update(instanceResource, write.object, query);
  else if (write.target === 'machine') await client.update(machineResource, write.object, query);
  else await client.updateStatus(machineResource, write.object, query);
}

async function act(
  hypervisor: Hypervisor,
  { action, id }: { readonly action: ProcessAction['action']; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  switch (action) {
    case 'pause':
    case 'resume':
    case 'reset':
      await hypervisor[action](id, signal);
      return;
    case 'reboot-by-agent':
      await hypervisor.askAgent(id, { execute: 'guest-shutdown', arguments: { mode: 'reboot' } }, signal);
      return;
  }
}
