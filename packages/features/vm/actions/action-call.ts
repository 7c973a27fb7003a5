import type { ExtensionAnswer, RouteRequest } from '@sheaf/api';
import { type JsonObject, StatusError } from '@sheaf/base';
import type { ObjectRef } from '@sheaf/client';
import { untilFresh } from '../carry-out.ts';
import type { RequestParts } from '../requests.ts';
import { type VirtualMachine } from '../virtual-machine.ts';
import { machineResource } from '../vm-resources.ts';

/** One action that a user who may change the machine has asked for. */
export interface ActionCall extends RequestParts {
  readonly request: RouteRequest;
  readonly place: Required<ObjectRef>;
  readonly body: JsonObject;
  readonly signal: AbortSignal;
}

/** Resolves to the answer; nothing is 204. */
export type Action = (call: ActionCall) => Promise<ExtensionAnswer | undefined>;

/** 422: the body is not what the action needs. */
export function invalidBody(message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message: `InvalidBodyContent 422: ${message}` });
}

/** 422: the action is not to be had of this machine. */
export function invalidAction(message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message: `InvalidAction 422: ${message}` });
}

/** 409: not as things are now. */
export function refused(message: string): StatusError {
  return new StatusError({ reason: 'Conflict', message });
}

/** A text of the body; empty where there is none. */
export function textOf({ body }: ActionCall, field: string): string {
  const value = body[field];
  return typeof value === 'string' ? value : '';
}

/** @throws StatusError 422 */
export function requiredText(call: ActionCall, field: string): string {
  const value = textOf(call, field);
  if (value !== '') return value;
  throw invalidBody(`Parameter \`${field}\` is required; give it as a text`);
}

/** Changes the machine as it is now. @throws StatusError */
export async function editMachine(
  { client, place, signal }: ActionCall,
  edit: (machine: VirtualMachine) => VirtualMachine,
): Promise<VirtualMachine> {
  return await untilFresh(async () => {
    const machine = await client.get(machineResource, place, signal);
    const next = edit(machine);
    return next === machine ? machine : await client.update(machineResource, next, { signal });
  });
}

export async function readMachine({ client, place, signal }: ActionCall): Promise<VirtualMachine> {
  return await client.get(machineResource, place, signal);
}

export function titleOf({ place }: ActionCall): string {
  return `${place.namespace}/${place.name}`;
}

/** Neither vowels nor what looks like another: no words come about. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const longestName = 63;

/** A name that nothing has yet, in all likelihood; who makes an object of it is told if something has. */
export function freshName({ random }: Pick<ActionCall, 'random'>, prefix: string, length = 5): string {
  const suffix = Array.from({ length }, () => letters[random.integer(letters.length)]).join('');
  return `${prefix.slice(0, longestName - length - 1)}-${suffix}`;
}
