import { resources } from '@sheaf/client';
import type { MachineCall, MachineCommand } from './machine-command.ts';
import { waitForMachine } from './machine-steps.ts';
import { waitFor } from './progress.ts';
import { sendToServer } from './server-request.ts';
import { secondsOf, waitOptions } from './wait-options.ts';

const options = { ...waitOptions.options };
const help = waitOptions.help;

export const start: MachineCommand = {
  summary: 'Starts a virtual machine and waits until it runs',
  words: 'NAME [options]',
  options,
  help,
  async run(call) {
    await ask(call, 'start');
    return settled(call, 'Running');
  },
};

export const stop: MachineCommand = {
  summary: 'Asks the guest to shut down and waits until it is off',
  words: 'NAME [options]',
  options: { ...options, force: { type: 'boolean' } },
  help: `  --force              end it at once, as if its power were cut\n${help}`,
  async run(call) {
    await ask(call, 'stop', call.flags['force'] === true ? { gracePeriod: 0 } : {});
    return settled(call, 'Stopped');
  },
};

export const restart: MachineCommand = {
  summary: 'Shuts the guest down, starts it anew and waits until it runs',
  words: 'NAME [options]',
  options: { ...options, force: { type: 'boolean' } },
  help: `  --force              do not wait for the guest to shut down\n${help}`,
  async run(call) {
    const before = await instanceUid(call);
    await ask(call, 'restart', call.flags['force'] === true ? { gracePeriodSeconds: 0 } : {});
    if (call.flags['no-wait'] === true) return 0;
    const [name = ''] = call.given;
    await waitFor(
      async () => {
        const now = await instanceUid(call);
        const isNew = now !== undefined && now !== before;
        return isNew ? { line: `${name}: starts anew`, outcome: 'done' } : { line: `${name}: shuts down` };
      },
      {
        timeoutSeconds: secondsOf(call.flags),
        wayOut: `The guest may not listen: sheaf vm restart ${name} -n ${call.namespace} --force`,
      },
    );
    return settled(call, 'Running');
  },
};

async function instanceUid({
  client,
  namespace,
  given: [name = ''],
}: MachineCall): Promise<string | undefined> {
  return (await client.find(resources.virtualMachineInstances, { namespace, name }))?.metadata.uid;
}

/** @throws StatusError with the server's words, which name the way out */
async function ask(
  { client, namespace, given: [name = ''] }: MachineCall,
  what: string,
  body: object = {},
): Promise<void> {
  const place = `namespaces/${encodeURIComponent(namespace)}/virtualmachines/${encodeURIComponent(name)}`;
  const target = `/apis/subresources.kubevirt.io/v1/${place}/${what}`;
  await sendToServer(client, { method: 'PUT', target, body });
}

async function settled(
  { client, namespace, flags, given: [name = ''] }: MachineCall,
  wanted: 'Running' | 'Stopped',
): Promise<number> {
  if (flags['no-wait'] === true) return 0;
  return await waitForMachine(client, {
    place: { namespace, name },
    wanted,
    timeoutSeconds: secondsOf(flags),
  });
}
