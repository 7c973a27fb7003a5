import { resources } from '@sheaf/client';
import type { MachineCall } from './machine-command.ts';

/** The path of what can be had of the instance of a machine. @throws Error with the way out where there is none */
export async function instancePath({ client, namespace, given: [name = ''] }: MachineCall): Promise<string> {
  const place = { namespace, name };
  const instance = await client.find(resources.virtualMachineInstances, place);
  if (!instance) {
    const machine = await client.find(resources.virtualMachines, place);
    throw new Error(
      machine
        ? `${name} is not running. Start it: sheaf vm start ${name} -n ${namespace}`
        : `there is no virtual machine ${name} in ${namespace}. See sheaf vm ls -A`,
    );
  }
  const words = ['namespaces', namespace, 'virtualmachineinstances', name].map(encodeURIComponent);
  return `/apis/subresources.kubevirt.io/v1/${words.join('/')}`;
}
