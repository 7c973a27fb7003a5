import type { ExtensionRequest } from '@sheaf/api';
import type { Client } from '@sheaf/client';
import type { Hypervisor } from '@sheaf/ports';
import type { VirtualMachineInstance } from '../virtual-machine.ts';
import { instanceResource } from '../vm-resources.ts';
import type { InstanceCheck } from './instance-check.ts';

export interface SubresourceParts {
  readonly client: Client;
  readonly hypervisor: Hypervisor;
}

export function placeOf({ namespace, name }: ExtensionRequest): { namespace: string; name: string } {
  return { namespace, name };
}

/** The instance that a request is about. @throws StatusError 404, or what the check says */
export async function checkedInstance(
  client: Client,
  request: ExtensionRequest,
  check: InstanceCheck,
): Promise<VirtualMachineInstance> {
  const instance = await client.get(instanceResource, placeOf(request), request.signal);
  const refusal = check(instance);
  if (refusal) throw refusal;
  return instance;
}

/** What its process is known by. */
export function processIdOf({ metadata }: VirtualMachineInstance): string {
  return metadata.uid ?? '';
}
