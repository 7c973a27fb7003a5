import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findProgram } from '../../packages/drivers/qemu/run-program.ts';
import { median } from '../measure/statistics.ts';
import { linuxGuest, tinyGuest, wrapEmulator } from './guest.ts';
import { writeInitrd } from './initrd.ts';
import {
  measureAdoption,
  measureHalted,
  measureLibvirt,
  measureMany,
  measureSingle,
  measureStop,
} from './measures.ts';
import { Subject } from './subject.ts';

const usage = `usage: node bench/virtual-machines/main.ts [--quick] [--rounds N] [--only PART …] [--json FILE]
         [--kernel FILE --busybox FILE] [--libvirt]

Measures virtual machines under Sheaf beside the same guest under a bare QEMU, in turns. PART is one of single, stop, many, adopt,
halted, linux. A Linux guest needs a kernel and a static busybox. --libvirt measures virsh beside them, where libvirtd runs.`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    kernel: { type: 'string' },
    busybox: { type: 'string' },
    libvirt: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const emulator = findProgram('qemu-system-x86_64');
if (options.help || emulator === undefined) {
  console.error(options.help ? usage : 'qemu-system-x86_64 is not installed');
  process.exit(options.help ? 0 : 2);
}

/** One figure: what it is, its values, and the aim that it is held against. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly aim?: number;
}

const figures: Figure[] = [];
const directory = await mkdtemp(join(tmpdir(), 'sheaf-bench-vm-'));
const guest = await tinyGuest(directory);
const bin = await wrapEmulator(directory, { emulator, guest });
const sizes = options.quick
  ? { rounds: 3, kubectlRounds: 1, many: 5, manyRounds: 1, halted: 100, idleSeconds: 3, linuxRounds: 1 }
  : { rounds: 15, kubectlRounds: 5, many: 50, manyRounds: 5, halted: 5000, idleSeconds: 20, linuxRounds: 5 };
const setting = {
  emulator,
  bin,
  directory,
  guest,
  sizes: { ...sizes, rounds: Number(options.rounds ?? sizes.rounds) },
  record: (figure: Figure): void => {
    figures.push(figure);
    console.error(`[bench] ${line(figure)}`);
  },
};
let subject: Subject | undefined = await Subject.start({ directory: join(directory, 'data'), bin });
try {
  const parts = { ...setting, subject };
  if (isWanted('single')) await measureSingle(parts);
  if (options.libvirt) await measureLibvirt(parts);
  if (isWanted('stop')) await measureStop(parts);
  if (isWanted('many') || isWanted('adopt')) await measureMany(parts);
  if (isWanted('adopt')) await measureAdoption(parts);
  if (isWanted('halted')) await measureHalted(parts);
  await subject.clear();
  subject = undefined;
  if (isWanted('linux') && options.kernel !== undefined && options.busybox !== undefined)
    await measureLinux(options.kernel, options.busybox);
  console.log(`\n${cpus().length} processors, medians\n`);
  for (const figure of figures) console.log(line(figure));
  await writeJson();
} finally {
  await subject?.clear();
  await rm(directory, { recursive: true, force: true });
}

async function measureLinux(kernel: string, busybox: string): Promise<void> {
  const initrd = join(directory, 'initrd');
  await writeInitrd(initrd, busybox);
  const linux = linuxGuest(kernel, initrd);
  const place = join(directory, 'linux');
  await mkdir(place);
  const bin = await wrapEmulator(place, { emulator: setting.emulator, guest: linux });
  subject = await Subject.start({ directory: join(place, 'data'), bin });
  const linuxSizes = { ...setting.sizes, rounds: sizes.linuxRounds, kubectlRounds: 0 };
  await measureSingle({ ...setting, bin, subject, guest: linux, sizes: linuxSizes }, 'Linux to user space');
  await subject.stop();
  subject = undefined;
}

function isWanted(part: string): boolean {
  return options.only.length === 0 || options.only.includes(part);
}

function line({ name, unit, values, aim }: Figure): string {
  const value = median(values);
  const figure = value.toFixed(Math.abs(value) >= 100 ? 0 : 2);
  const verdict = aim === undefined ? '' : ` (aim ${aim}${value <= aim ? '' : ': missed'})`;
  return `${name}: ${figure} ${unit}${verdict}`;
}

async function writeJson(): Promise<void> {
  const stamp = new Date()
    .toISOString()
    .slice(0, 19)
    .replaceAll(/[^0-9]/g, '');
  const file = options.json ?? fileURLToPath(new URL(`../results/vm-${stamp}.json`, import.meta.url));
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? '',
    kernel: release(),
    node: process.version,
  };
  await writeFile(
    file,
    `${JSON.stringify({ date: new Date().toISOString(), machine, figures }, undefined, 2)}\n`,
  );
  console.log(`\nfigures of every round: ${file}`);
}
