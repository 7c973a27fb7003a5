import { createHash } from 'node:crypto';

/** Sockets and files in a machine's directory; the program runs there, so their paths are short. */
export const fileNames = {
  control: 'control.sock',
  /** A second control socket, for people: the first one serves one client. */
  debugControl: 'debug.sock',
  serial: 'serial.sock',
  serialLog: 'serial.log',
  screen: 'screen.sock',
  agent: 'agent.sock',
  tpm: 'tpm.sock',
  /** There while the memory is kept. */
  memory: 'memory.sock',
  efiVariables: 'efi-variables.fd',
  /** Lock, record and log of the machine's process. */
  machine: 'machine',
  tpmProcess: 'tpm',
} as const;

/** Where the program finds the memory that it is to go on with. */
export const inputDescriptor = 7;

/** Directories, and lock, record and log files, of the processes of pod networks begin so. */
export const podPrefix = 'pod-';

/** The process that is the pod network of a card. */
export function podProcess(nic: string): string {
  return `${podPrefix}${nic}`;
}

export function diskId(name: string): string {
  return `disk-${name}`;
}

export function nicId(name: string): string {
  return `nic-${name}`;
}

export function netdevId(name: string): string {
  return `net-${name}`;
}

export function portId(index: number): string {
  return `port${index}`;
}

/** All block nodes of a disk begin so. A node's name has at most 31 characters, a disk's has more. */
export function diskNodePrefix(name: string): string {
  return `d${digest(name, 8)}-`;
}

/** The block node of one file of a disk; the same whenever it is asked for. */
export function diskNode(name: string, path: string): string {
  return diskNodePrefix(name) + digest(path, 16);
}

/** All taps of a machine begin so. */
export function tapPrefix(machineId: string): string {
  return `sh${digest(machineId, 7)}`;
}

/** A network device's name has at most 15 characters. */
export function tapName(machineId: string, nic: string): string {
  return tapPrefix(machineId) + digest(nic, 5);
}

/** The names of a kind of devices among ids. */
export function nameIn(id: string, kind: 'disk' | 'nic'): string | undefined {
  return id.startsWith(`${kind}-`) ? id.slice(kind.length + 1) : undefined;
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
