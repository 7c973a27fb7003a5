import type { KubeObject } from '@sheaf/api';
import { withMemoryAnnotation } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { at, listAt, textAt } from '../connect.ts';
import { type MachineCall, type MachineCommand, textOf } from './machine-command.ts';
import { type Step, waitFor } from './progress.ts';
import { sendToServer } from './server-request.ts';
import { secondsOf, waitOptions } from './wait-options.ts';

export const snapshot: MachineCommand = {
  summary: 'Keeps the state of all disks as they are now, on this machine',
  words: 'NAME [options]',
  options: { ...waitOptions.options, name: { type: 'string' }, memory: { type: 'boolean' } },
  help: `  --name NAME          of the snapshot; default: the machine's with the time
  --memory             with what the running machine has in its memory: restored, it goes on where it was
${waitOptions.help}`,
  run: takeSnapshot,
};

async function takeSnapshot(call: MachineCall): Promise<number> {
  const {
    client,
    namespace,
    flags,
    given: [machine = ''],
  } = call;
  const moment = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const name = textOf(flags, 'name') ?? `${machine}-${moment}`;
  await client.get(resources.virtualMachines, { namespace, name: machine });
  await client.create(resources.virtualMachineBackups, {
    metadata: {
      namespace,
      name,
      ...(flags['memory'] === true ? { annotations: { [withMemoryAnnotation]: 'true' } } : {}),
    },
    spec: { type: 'snapshot', source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: machine } },
  });
  process.stdout.write(`${name}\n`);
  if (flags['no-wait'] === true) return 0;
  const step = await waitFor(
    async () => snapshotStep(await client.find(resources.virtualMachineBackups, { namespace, name })),
    {
      timeoutSeconds: secondsOf(flags),
      wayOut: `See sheaf why virtualmachinebackup/${name} -n ${namespace}`,
    },
  );
  return step.outcome === 'done' ? 0 : 1;
}

/** How far a snapshot is. */
export function snapshotStep(backup: KubeObject | undefined): Step {
  if (!backup) return { line: 'the snapshot is gone', outcome: 'failed' };
  const { name = '' } = backup.metadata;
  if (at(backup, 'status', 'readyToUse') === true) return { line: `${name}: ready`, outcome: 'done' };
  const message = textAt(backup, 'status', 'error', 'message');
  if (message !== '') return { line: `${name}: ${message}`, outcome: 'failed' };
  const longest = listAt(backup, 'status', 'conditions').find(
    (condition) => textAt(condition, 'reason') === 'MemoryBeingKept',
  );
  if (longest) return { line: `${name}: ${textAt(longest, 'message')}` };
  const progress = at(backup, 'status', 'progress');
  return { line: `${name}: ${typeof progress === 'number' ? progress : 0} %` };
}

export const remove: MachineCommand = {
  summary: 'Deletes a virtual machine; its disks stay, if they are not named or all meant',
  words: 'NAME [options]',
  options: {
    ...waitOptions.options,
    disk: { type: 'string', multiple: true },
    'all-disks': { type: 'boolean' },
  },
  help: `  --disk NAME          delete this disk as well, with all that is on it; repeatable
  --all-disks          delete all its disks as well
${waitOptions.help}`,
  run: removeMachine,
};

async function removeMachine(call: MachineCall): Promise<number> {
  const {
    client,
    namespace,
    flags,
    given: [name = ''],
  } = call;
  const machine = await client.get<KubeObject>(resources.virtualMachines, { namespace, name });
  const disks = claimsOf(machine);
  const chosen = flags['all-disks'] === true ? disks.map(({ disk }) => disk) : listOf(flags['disk']);
  const query = new URLSearchParams(chosen.map((disk) => ['removedDisks', disk])).toString();
  const place = `${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const target = `/v1/harvester/kubevirt.io.virtualmachines/${place}${query === '' ? '' : `?${query}`}`;
  await sendToServer(client, { method: 'DELETE', target });
  const kept = disks.filter(({ disk }) => !chosen.includes(disk));
  for (const { claim } of kept)
    process.stderr.write(`kept: ${claim}; delete it with kubectl delete pvc ${claim} -n ${namespace}\n`);
  if (flags['no-wait'] === true) return 0;
  await waitFor(
    async (): Promise<Step> =>
      (await client.find(resources.virtualMachines, { namespace, name }))
        ? { line: `${name}: is being deleted` }
        : { line: `${name}: deleted`, outcome: 'done' },
    {
      timeoutSeconds: secondsOf(flags),
      wayOut: `See what holds it: sheaf vm why ${name} -n ${namespace}`,
    },
  );
  return 0;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The disks of a machine that are on claims. */
export function claimsOf(machine: KubeObject): readonly { readonly disk: string; readonly claim: string }[] {
  return listAt(machine, 'spec', 'template', 'spec', 'volumes').flatMap((volume) => {
    const claim =
      textAt(volume, 'persistentVolumeClaim', 'claimName') || textAt(volume, 'dataVolume', 'name');
    return claim === '' ? [] : [{ disk: textAt(volume, 'name'), claim }];
  });
}
