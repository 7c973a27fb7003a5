import { access, constants, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acceleratorProbeImage } from './firmware/accelerator-probe.gen.ts';
import { keptAnswer } from './kept-answer.ts';
import { runProgram } from './run-program.ts';

export interface Accelerator {
  readonly kind: 'kvm' | 'tcg';
  /** Why this one, and why not the other; for people. */
  readonly reason: string;
}

export interface AcceleratorProbe {
  /** Where the answer is kept: it costs a process. */
  readonly directory: string;
  readonly program: string;
  /** The answer holds for this program in this boot. */
  readonly version: string;
  readonly bootId: string;
  readonly wanted: 'auto' | 'kvm' | 'tcg';
}

/** The probe passes in a tenth of it under emulation. */
const limitMs = 1000;
const passed = { status: 67, output: 'RPLWI!' };

/** Whether guests really run under KVM here, not only whether it is there. `isFresh` looks again. */
export async function probeAccelerator(probe: AcceleratorProbe, isFresh: boolean): Promise<Accelerator> {
  if (probe.wanted !== 'auto') return { kind: probe.wanted, reason: `${probe.wanted} is configured` };
  const obstacle = await staticObstacle();
  if (obstacle !== undefined) return { kind: 'tcg', reason: obstacle };
  const path = join(probe.directory, 'accelerator.json');
  const key = `${probe.bootId} ${probe.version}`;
  return await keptAnswer({ path, key, isFresh }, () => tryKvm(probe));
}

/** What rules KVM out without a try; `undefined` if nothing does. */
async function staticObstacle(): Promise<string | undefined> {
  const modules = (await readdir('/sys/module')).filter((name) => name.startsWith('kvm'));
  const loaded = modules.length === 0 ? 'no kvm module is loaded' : `loaded: ${modules.sort().join(', ')}`;
  try {
    await access('/dev/kvm', constants.R_OK | constants.W_OK);
  } catch {
    return `/dev/kvm cannot be opened for reading and writing (${loaded})`;
  }
  const processor = await readFile('/proc/cpuinfo', 'utf8');
  if (process.arch === 'x64' && !/^flags\s*:.*\b(vmx|svm)\b/m.test(processor))
    return `the processor offers no hardware virtualization, neither vmx nor svm (${loaded})`;
  return undefined;
}

async function tryKvm({ program, directory }: AcceleratorProbe): Promise<Accelerator> {
  const temporary = await mkdtemp(join(directory, 'probe-'));
  try {
    const image = join(temporary, 'probe.bin');
    await writeFile(image, acceleratorProbeImage());
    const result = await runProgram(program, probeArguments('kvm', image), limitMs);
    if (result.status === passed.status && result.output === passed.output)
      return { kind: 'kvm', reason: 'a test guest ran under KVM' };
    const words = result.errors.trim().split('\n').at(-1) ?? '';
    return {
      kind: 'tcg',
      reason: `a test guest did not run under KVM: it came to ${JSON.stringify(result.output)} of "${passed.output}"; ${words}`,
    };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A machine that runs the probe's image. */
export function probeArguments(accelerator: 'kvm' | 'tcg', image: string): string[] {
  return [
    ...['-machine', 'pc', '-accel', accelerator, '-cpu', accelerator === 'kvm' ? 'host' : 'max', '-m', '16'],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-monitor', 'none', '-serial', 'none'],
    ...['-bios', image, '-device', 'isa-debug-exit,iobase=0xf4,iosize=4'],
    ...['-chardev', 'stdio,id=letters,signal=off', '-device', 'isa-debugcon,iobase=0xe9,chardev=letters'],
  ];
}
