import { existsSync } from 'node:fs';
import type { Passt } from './passt-command.ts';
import { findProgram, runProgram } from './run-program.ts';

/** The files of one EFI firmware. */
export interface FirmwareFiles {
  readonly codePath: string;
  /** What a new machine's variables are a copy of. */
  readonly templatePath: string;
}

/** The programs and files of the host that machines are made of; looked for, never assumed. */
export interface HostPrograms {
  readonly emulator?: { readonly path: string; readonly version: string };
  readonly tpmEmulator?: string;
  readonly networkTool?: string;
  /** Found by trying, so that it is safe to use. */
  readonly passt?: Passt;
  readonly efi?: FirmwareFiles;
  readonly secureEfi?: FirmwareFiles;
  readonly machineTypes: readonly string[];
  readonly cpuModels: readonly string[];
}

const efiPlaces: readonly FirmwareFiles[] = [
  firmwareFiles('/usr/share/OVMF/OVMF_CODE_4M.fd', '/usr/share/OVMF/OVMF_VARS_4M.fd'),
  firmwareFiles('/usr/share/edk2/ovmf/OVMF_CODE.fd', '/usr/share/edk2/ovmf/OVMF_VARS.fd'),
  firmwareFiles('/usr/share/edk2/x64/OVMF_CODE.4m.fd', '/usr/share/edk2/x64/OVMF_VARS.4m.fd'),
];
const secureEfiPlaces: readonly FirmwareFiles[] = [
  firmwareFiles('/usr/share/OVMF/OVMF_CODE_4M.secboot.fd', '/usr/share/OVMF/OVMF_VARS_4M.ms.fd'),
  firmwareFiles('/usr/share/edk2/ovmf/OVMF_CODE.secboot.fd', '/usr/share/edk2/ovmf/OVMF_VARS.secboot.fd'),
];

/** Only these are offered; a machine type of one version of the program would bind machines to it. */
const offeredTypes = ['q35', 'pc', 'microvm'];

/** What ending a machine takes; found without running a program. */
export function programsBeforeProbe(): HostPrograms {
  const networkTool = findProgram('ip');
  return { ...(networkTool !== undefined && { networkTool }), machineTypes: [], cpuModels: [] };
}

/** Looks at what is installed. */
export async function findHostPrograms(emulatorName: string): Promise<HostPrograms> {
  const path = findProgram(emulatorName);
  const [version, machineTypes, cpuModels] =
    path === undefined
      ? [undefined, [], []]
      : await Promise.all([versionOf(path), listMachineTypes(path), listCpuModels(path)]);
  const tpmEmulator = findProgram('swtpm');
  const networkTool = findProgram('ip');
  const efi = efiPlaces.find(isThere);
  const secureEfi = secureEfiPlaces.find(isThere);
  return {
    ...(path !== undefined && version !== undefined && { emulator: { path, version } }),
    ...(tpmEmulator !== undefined && { tpmEmulator }),
    ...(networkTool !== undefined && { networkTool }),
    ...(efi && { efi }),
    ...(secureEfi && { secureEfi }),
    machineTypes,
    cpuModels,
  };
}

async function versionOf(path: string): Promise<string | undefined> {
  const { output } = await runProgram(path, ['--version']);
  return /version (\S+)/.exec(output)?.[1];
}

async function listMachineTypes(path: string): Promise<string[]> {
  const { output } = await runProgram(path, ['-machine', 'help']);
  const found = new Set(output.split('\n').map((line) => line.split(' ')[0]));
  return offeredTypes.filter((name) => found.has(name));
}

async function listCpuModels(path: string): Promise<string[]> {
  const { output } = await runProgram(path, ['-cpu', 'help']);
  const [models = ''] = output.split('\nRecognized');
  return models.split('\n').flatMap((line) => /^(?:x86|  ) *([A-Za-z0-9_.-]+)(?: |$)/.exec(line)?.[1] ?? []);
}

function firmwareFiles(codePath: string, templatePath: string): FirmwareFiles {
  return { codePath, templatePath };
}

function isThere({ codePath, templatePath }: FirmwareFiles): boolean {
  return existsSync(codePath) && existsSync(templatePath);
}
