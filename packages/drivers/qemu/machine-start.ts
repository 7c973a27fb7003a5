import { StatusError } from '@sheaf/base';
import type { MachineNic, MachineSpec } from '@sheaf/ports';
import { commandLine, environmentOf } from './command-line/command-line.ts';
import type { EfiFiles } from './command-line/firmware.ts';
import { fileNames, nicId, tapName } from './device-names.ts';
import { limitDrive } from './disk-changes.ts';
import type { MachineHost } from './host.ts';
import type { Launching } from './launcher.ts';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import type { MachineLink } from './machine-link.ts';
import { labelBytes, obstacleTo } from './memory-file.ts';
import { labelOf } from './memory-writing.ts';
import { ensurePasst } from './passt.ts';
import { ensureTap } from './tap-device.ts';
import { ensureTpm } from './tpm-emulator.ts';

interface StartOptions {
  readonly spec: MachineSpec;
  readonly files: MachineFiles;
  readonly host: MachineHost;
}

/** Makes what the machine needs, then its process; each step finds what an earlier life has done. */
export async function launchMachine(
  options: StartOptions,
): Promise<{ record: MachineRecord; launching?: Launching }> {
  const { spec, files, host } = options;
  const { emulator } = host.programs();
  if (!emulator) throw unavailable('QEMU is not installed: apt-get install qemu-system-x86');
  const earlier = await files.readRecord();
  if (earlier && (await files.readProcess(fileNames.machine))) return { record: earlier };
  const record: MachineRecord = {
    spec,
    accelerator: spec.accelerator ?? host.accelerator(),
    program: emulator.path,
    startedAt: host.clock.now(),
    bootId: host.bootId,
  };
  await checkMemory(record, host);
  await files.writeRecord(record);
  const [efi, podSockets] = await Promise.all([
    prepareEfi(options),
    preparePodNetworks(options),
    prepareTpm(options),
    prepareTaps(options),
  ]);
  const launching = host.launcher.launch({
    directory: files.directory,
    name: fileNames.machine,
    program: emulator.path,
    args: commandLine(spec, { accelerator: record.accelerator, podSockets, ...(efi && { efi }) }),
    environment: environmentOf(spec),
    ...(spec.memoryPath !== undefined && { input: { path: spec.memoryPath, skippedBytes: labelBytes } }),
  });
  return { record, launching };
}

/** @throws Error where it could not go on with what was kept: before anything of it is there */
async function checkMemory(record: MachineRecord, host: MachineHost): Promise<void> {
  const { memoryPath, title } = record.spec;
  if (memoryPath === undefined) return;
  const obstacle = await obstacleTo(memoryPath, labelOf(record, host.programs().emulator?.version ?? ''));
  if (obstacle !== undefined)
    throw new Error(
      `${title} cannot go on with the memory that was kept: ${obstacle}; start it without what was kept`,
    );
}

/** What the command line cannot say; before the processors run for the first time. */
export async function prepareDevices(spec: MachineSpec, link: MachineLink): Promise<void> {
  for (const disk of spec.disks) if (disk.limits && disk.file) await limitDrive(link, disk.name, disk.limits);
  for (const nic of spec.nics)
    if (nic.carrier === 'down') await link.execute('set_link', { name: nicId(nic.name), up: false });
}

async function prepareEfi({ spec, files, host }: StartOptions): Promise<EfiFiles | undefined> {
  if (spec.firmware.kind !== 'efi') return undefined;
  const { isSecureBoot, persistentKey } = spec.firmware;
  const { efi, secureEfi } = host.programs();
  const firmware = isSecureBoot ? secureEfi : efi;
  if (!firmware) throw unavailable('there is no EFI firmware of this kind on the host: apt-get install ovmf');
  const variablesPath = await host.persistent.ensureVariables(
    persistentKey,
    files.directory,
    firmware.templatePath,
  );
  return { codePath: firmware.codePath, variablesPath };
}

async function prepareTpm({ spec, files, host }: StartOptions): Promise<void> {
  if (!spec.tpm) return;
  const program = host.programs().tpmEmulator;
  if (program === undefined) throw unavailable('there is no TPM emulator on the host: apt-get install swtpm');
  const directory = await host.persistent.ensureTpmDirectory(spec.tpm.persistentKey, files.directory);
  const { bootId, clock, limits } = host;
  await ensureTpm(files, directory, { program, bootId, clock, limitMs: limits.endMs });
}

async function prepareTaps({ spec, host }: StartOptions): Promise<void> {
  for (const nic of spec.nics)
    if (nic.link.kind === 'bridge')
      await ensureTap(networkTool(host), tapName(spec.id, nic.name), nic.link.bridge);
}

async function preparePodNetworks({ spec, files, host }: StartOptions): Promise<ReadonlyMap<string, string>> {
  const sockets = new Map<string, string>();
  for (const nic of spec.nics) {
    const socket = await preparePodNetwork(files, nic, host);
    if (socket !== undefined) sockets.set(nic.name, socket);
  }
  return sockets;
}

/** The socket of a card's pod network; `undefined` for a card on a bridge, and where QEMU itself is the network. */
export async function preparePodNetwork(
  files: MachineFiles,
  nic: MachineNic,
  host: MachineHost,
): Promise<string | undefined> {
  const { passt } = host.programs();
  if (nic.link.kind !== 'user' || passt === undefined) return undefined;
  const { bootId, clock, limits } = host;
  return await ensurePasst(files, nic, { passt, bootId, clock, limitMs: limits.startMs });
}

/** The program that makes tap devices. @throws StatusError if there is none */
export function networkTool(host: MachineHost): string {
  const { networkTool: tool } = host.programs();
  if (tool === undefined) throw unavailable('bridged networks need the program ip: apt-get install iproute2');
  return tool;
}

function unavailable(message: string): StatusError {
  return new StatusError({ reason: 'ServiceUnavailable', message });
}
