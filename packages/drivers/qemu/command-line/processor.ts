import type { MachineCpu, MachineMemory, MachineSpec } from '@sheaf/ports';

const mebibyte = 1024 * 1024;
/** Modules of memory that can be added while it runs. */
export const memorySlots = 16;

export function cpuArguments(cpu: MachineCpu, accelerator: 'kvm' | 'tcg'): string[] {
  const perSocket = cpu.cores * cpu.threads;
  const sockets = Math.max(cpu.sockets, cpu.maxSockets ?? cpu.sockets);
  const topology = [
    cpu.sockets * perSocket,
    `sockets=${sockets}`,
    `cores=${cpu.cores}`,
    `threads=${cpu.threads}`,
    `maxcpus=${sockets * perSocket}`,
  ];
  return ['-cpu', cpuModel(cpu, accelerator), '-smp', topology.join(',')];
}

function cpuModel(cpu: MachineCpu, accelerator: 'kvm' | 'tcg'): string {
  const best = accelerator === 'kvm' ? 'host' : 'max';
  const named = cpu.model ?? 'host-model';
  const model = named === 'host-model' || named === 'host-passthrough' ? best : escapeCommas(named);
  const features = (cpu.features ?? []).map(({ name, policy }) => {
    const isWanted = policy !== 'disable' && policy !== 'forbid';
    return `${escapeCommas(name)}=${isWanted ? 'on' : 'off'}`;
  });
  return [model, ...features].join(',');
}

export function memoryArguments(memory: MachineMemory): string[] {
  const size = `size=${memory.bytes / mebibyte}M`;
  // Room for more costs the guest memory, so it is made only where it is asked for.
  if (memory.maxBytes === undefined || memory.maxBytes <= memory.bytes) return ['-m', size];
  return ['-m', `${size},slots=${memorySlots},maxmem=${memory.maxBytes / mebibyte}M`];
}

export function acceleratorArguments(spec: MachineSpec, accelerator: 'kvm' | 'tcg'): string[] {
  if (accelerator === 'kvm') return ['-accel', 'kvm'];
  return ['-accel', `tcg,tb-size=${translationMebibytes(spec.memory.bytes)}`];
}

/** The cache of translated code: left alone it grows to a gigabyte for each machine. */
function translationMebibytes(memoryBytes: number): number {
  if (memoryBytes < 64 * mebibyte) return 4;
  return memoryBytes <= 512 * mebibyte ? 64 : 256;
}

/** A value in a list of options that commas separate. */
export function escapeCommas(value: string): string {
  return value.replaceAll(',', ',,');
}
