import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../packages/base/index.ts';
import { openQemu } from '../../packages/drivers/qemu/register.ts';
import { systemClock } from '../../packages/drivers/system/system-clock.ts';
import { systemRandom } from '../../packages/drivers/system/system-random.ts';
import { cpuMilliseconds, memory, threadMilliseconds } from '../measure/process-usage.ts';
import { median } from '../measure/statistics.ts';
import { type BareMachine, startBare } from './bare.ts';
import type { Guest } from './guest.ts';
import type { Figure } from './main.ts';
import { MachineWatch, untilPrinted } from './serial-watch.ts';
import { machineBody, type Subject } from './subject.ts';

export interface Parts {
  readonly emulator: string;
  /** Where the wrapped emulator is. */
  readonly bin: string;
  readonly directory: string;
  readonly guest: Guest;
  readonly subject: Subject;
  readonly sizes: {
    readonly rounds: number;
    readonly kubectlRounds: number;
    readonly many: number;
    readonly manyRounds: number;
    readonly halted: number;
    readonly idleSeconds: number;
  };
  readonly record: (figure: Figure) => void;
}

/** One machine after the other: from the request to the first words of the guest. */
export async function measureSingle(parts: Parts, name = 'tiny guest to its own code'): Promise<void> {
  const { subject, guest, sizes, record } = parts;
  const bare: number[] = [];
  const ours: number[] = [];
  const kubectl: number[] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    const machine = await startBare(parts);
    bare.push(machine.milliseconds);
    await machine.kill();
    ours.push(await timeStart(parts, (id) => subject.create(id, bodyOf(id, guest)), `single-${round}`));
    if (round < sizes.kubectlRounds)
      kubectl.push(await timeStart(parts, (id) => kubectlApply(parts, id), `kubectl-${round}`));
  }
  record({ name: `${name}, bare QEMU`, unit: 'ms', values: bare });
  const isTiny = guest.memoryMebibytes < 64;
  record({ name: `${name}, applied over HTTP`, unit: 'ms', values: ours, ...(isTiny && { aim: 100 }) });
  if (kubectl.length > 0) record({ name: `${name}, kubectl apply`, unit: 'ms', values: kubectl });
  const ratio = median(ours) / median(bare);
  record({ name: `${name}, to bare QEMU`, unit: 'times', values: [ratio], ...(!isTiny && { aim: 1.05 }) });
}

function bodyOf(name: string, guest: Guest, runStrategy = 'Always'): string {
  return machineBody(name, { runStrategy, memoryMebibytes: guest.memoryMebibytes });
}

async function timeStart(
  { subject, guest }: Parts,
  create: (id: string) => Promise<void>,
  id: string,
): Promise<number> {
  const watch = new MachineWatch(subject.machineDirectory, guest.banner);
  const begun = performance.now();
  const [milliseconds] = await Promise.all([
    watch.until(1).then(() => performance.now() - begun),
    create(id),
  ]);
  await subject.delete(id);
  await untilNone(subject);
  return milliseconds;
}

async function untilNone(subject: Subject): Promise<void> {
  while ((await subject.countInstances()) > 0) await delay(10);
}

async function kubectlApply({ directory, subject, guest }: Parts, id: string): Promise<void> {
  const file = join(directory, `${id}.json`);
  await writeFile(file, bodyOf(id, guest));
  await runQuietly('kubectl', ['--kubeconfig', subject.kubeconfig, 'apply', '-f', file]);
}

async function runQuietly(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, [...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${errors}`);
}

/** From the request to the event that the instance has ended, at a watcher. */
export async function measureStop({ subject, guest, sizes, record }: Parts): Promise<void> {
  let seen: (() => void) | undefined;
  const close = await subject.watchInstances((text) => {
    if (/"type":"DELETED"/.test(text) || /"phase":"(Succeeded|Failed)"/.test(text)) seen?.();
  });
  const values: number[] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    const id = `stop-${round}`;
    const watch = new MachineWatch(subject.machineDirectory, guest.banner);
    await Promise.all([watch.until(1), subject.create(id, bodyOf(id, guest))]);
    while ((await subject.countInstances('Running')) < 1) await delay(10);
    const ended = new Promise<void>((resolve) => {
      seen = resolve;
    });
    const begun = performance.now();
    await Promise.all([ended, subject.stopMachine(id)]);
    values.push(performance.now() - begun);
    seen = undefined;
    await untilNone(subject);
    await subject.delete(id);
  }
  close();
  record({ name: 'hard stop to its event', unit: 'ms', values, aim: 50 });
}

/** What one round of many at once took, of time and of processors, each for one machine. */
interface Round {
  readonly bareMs: number;
  readonly bareCpuMs: number;
  readonly barePss: number;
  readonly ourMs: number;
  readonly ourCpuMs: number;
  readonly machineCpuMs: number;
}

/** Many at once, in turns with as many under a bare QEMU; what they need, and what Sheaf does while they run. They go on running. */
export async function measureMany(parts: Parts): Promise<void> {
  const { subject, sizes, record } = parts;
  const { many } = sizes;
  const before = memory([subject.pid]).pss;
  const rounds: Round[] = [];
  for (let round = 0; round < sizes.manyRounds; round++) {
    if (round > 0) await removeMany(parts);
    rounds.push({ ...(await startManyBare(parts)), ...(await startMany(parts)) });
  }
  const of = (figure: (round: Round) => number): number[] => rounds.map(figure);
  record({ name: `${many} at once, bare QEMU`, unit: 'ms', values: of(({ bareMs }) => bareMs) });
  record({ name: `${many} at once, applied over HTTP`, unit: 'ms', values: of(({ ourMs }) => ourMs) });
  const ratios = of(({ ourMs, bareMs }) => ourMs / bareMs);
  record({ name: `${many} at once, to bare QEMU`, unit: 'times', values: ratios, aim: 1.5 });
  const unit = 'CPU ms';
  record({ name: 'for each of them, bare QEMU', unit, values: of(({ bareCpuMs }) => bareCpuMs) });
  record({
    name: 'for each of them, QEMU under Sheaf',
    unit,
    values: of(({ machineCpuMs }) => machineCpuMs),
  });
  record({ name: 'for each of them, Sheaf', unit, values: of(({ ourCpuMs }) => ourCpuMs) });
  await delay(3000);
  const cpu = cpuMilliseconds([subject.pid]);
  await delay(sizes.idleSeconds * 1000);
  const used = (cpuMilliseconds([subject.pid]) - cpu) / (sizes.idleSeconds * 10);
  record({ name: `Sheaf while ${many} run`, unit: '% of a core', values: [used], aim: 2 });
  const ourPss = memory(machineProcesses(parts)).pss / many;
  const server = (memory([subject.pid]).pss - before) / many;
  const barePss = median(of((round) => round.barePss));
  record({ name: 'memory of a machine, bare QEMU', unit: 'MiB', values: [barePss] });
  record({ name: 'memory of a machine, Sheaf', unit: 'MiB', values: [ourPss] });
  record({ name: 'memory of Sheaf for a machine', unit: 'MiB', values: [server] });
  record({ name: 'memory above bare QEMU', unit: 'MiB', values: [ourPss + server - barePss], aim: 5 });
}

async function startManyBare(parts: Parts): Promise<Pick<Round, 'bareMs' | 'bareCpuMs' | 'barePss'>> {
  const { many } = parts.sizes;
  const begun = performance.now();
  const bare = await Promise.all(Array.from({ length: many }, () => startBare(parts)));
  const bareMs = performance.now() - begun;
  const pids = bare.map(({ pid }: BareMachine) => pid);
  const bareCpuMs = threadMilliseconds(pids) / many;
  const barePss = memory(pids).pss / many;
  await Promise.all(bare.map((machine) => machine.kill()));
  return { bareMs, bareCpuMs, barePss };
}

async function startMany(parts: Parts): Promise<Pick<Round, 'ourMs' | 'ourCpuMs' | 'machineCpuMs'>> {
  const { subject, guest, sizes } = parts;
  const { many } = sizes;
  const connections = await Promise.all(Array.from({ length: 8 }, () => subject.another()));
  const watch = new MachineWatch(subject.machineDirectory, guest.banner);
  const cpu = cpuMilliseconds([subject.pid]);
  const begun = performance.now();
  const all = watch.until(many).then(() => performance.now() - begun);
  await Promise.all(
    connections.map(async (connection, lane) => {
      for (let index = lane; index < many; index += connections.length)
        await subject.create(`many-${index}`, bodyOf(`many-${index}`, guest), connection);
    }),
  );
  const ourMs = await all;
  const machineCpuMs = threadMilliseconds(watch.processes()) / many;
  for (const connection of connections) connection.close();
  while ((await subject.countInstances('Running')) < many) await delay(10);
  return { ourMs, machineCpuMs, ourCpuMs: (cpuMilliseconds([subject.pid]) - cpu) / many };
}

function machineProcesses({ subject, guest }: Parts): readonly number[] {
  return new MachineWatch(subject.machineDirectory, guest.banner).processes();
}

async function removeMany({ subject, sizes }: Parts): Promise<void> {
  for (let index = 0; index < sizes.many; index++) await subject.delete(`many-${index}`);
  await untilNone(subject);
  // Their files and machines go a moment later.
  await delay(1000);
}

/** The server is killed; its machines are found again. */
export async function measureAdoption({ subject, sizes, record }: Parts): Promise<void> {
  await subject.kill();
  const values: number[] = [];
  for (let round = 0; round < 5; round++) {
    const hypervisor = openQemu({
      directory: subject.hypervisorDirectory,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      mayWrite: () => Promise.resolve(true),
    });
    const begun = performance.now();
    const found = await hypervisor.list(AbortSignal.timeout(30_000));
    values.push(performance.now() - begun);
    const running = found.filter(({ state }) => state === 'running').length;
    if (running !== sizes.many) throw new Error(`${running} of ${sizes.many} machines were adopted`);
    hypervisor.dispose();
    await delay(200);
  }
  record({ name: `${sizes.many} machines adopted after kill -9`, unit: 'ms', values, aim: 200 });
  const ready = await subject.startAgain();
  record({
    name: `start of Sheaf with ${sizes.many} machines running`,
    unit: 'ms to ready',
    values: [ready],
  });
  const begun = performance.now();
  for (let index = 0; index < sizes.many; index++) await subject.delete(`many-${index}`);
  await untilNone(subject);
  record({
    name: `${sizes.many} machines deleted and gone`,
    unit: 'ms',
    values: [performance.now() - begun],
  });
}

/** Many machines that are off. */
export async function measureHalted(parts: Parts): Promise<void> {
  const { subject, guest, sizes, record } = parts;
  const connections = await Promise.all(Array.from({ length: 16 }, () => subject.another()));
  const begun = performance.now();
  await Promise.all(
    connections.map(async (connection, lane) => {
      for (let index = lane; index < sizes.halted; index += connections.length)
        await subject.create(`halted-${index}`, bodyOf(`halted-${index}`, guest, 'Halted'), connection);
    }),
  );
  record({
    name: `${sizes.halted} halted machines applied`,
    unit: 'ms',
    values: [performance.now() - begun],
  });
  for (const connection of connections) connection.close();
  await untilPassed(subject, sizes.halted);
  await subject.stop();
  const again = performance.now();
  const ready = await subject.startAgain();
  await untilPassed(subject, sizes.halted);
  const reconciled = performance.now() - again;
  record({
    name: `start of Sheaf with ${sizes.halted} halted machines`,
    unit: 'ms to ready',
    values: [ready],
  });
  record({
    name: `${sizes.halted} halted machines reconciled after a restart`,
    unit: 'ms',
    values: [reconciled],
    aim: 5000,
  });
  const pages: number[] = [];
  for (let round = 0; round < 20; round++) pages.push(await subject.listPage(500));
  record({ name: 'a page of 500 machines', unit: 'ms', values: pages, aim: 50 });
}

/** Every machine has been looked at, and nothing waits. */
async function untilPassed(subject: Subject, count: number): Promise<void> {
  const controller = 'virtual-machine';
  for (;;) {
    const passes = await subject.metric('sheaf_controller_passes_total', controller);
    if (passes >= count && (await subject.metric('workqueue_depth', controller)) === 0) return;
    await delay(50);
  }
}

/** The same guest as a domain of libvirt. */
export async function measureLibvirt(parts: Parts): Promise<void> {
  const { directory, guest, sizes, record, emulator } = parts;
  const values: number[] = [];
  const stops: number[] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    const log = join(directory, `libvirt-${round}.log`);
    const file = join(directory, `libvirt-${round}.xml`);
    const [, firmware = ''] = guest.args;
    await writeFile(file, domainXml({ name: `bench-${round}`, emulator, firmware, log }));
    const begun = performance.now();
    await runQuietly('virsh', ['create', file]);
    await untilPrinted(log, guest.banner);
    values.push(performance.now() - begun);
    const stopping = performance.now();
    await runQuietly('virsh', ['destroy', `bench-${round}`]);
    stops.push(performance.now() - stopping);
  }
  record({ name: 'tiny guest to its own code, virsh create', unit: 'ms', values });
  record({ name: 'hard stop, virsh destroy', unit: 'ms', values: stops });
}

function domainXml(facts: { name: string; emulator: string; firmware: string; log: string }): string {
  return `<domain type='qemu'>
  <name>${facts.name}</name><memory unit='MiB'>16</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type><loader type='rom'>${facts.firmware}</loader></os>
  <devices><emulator>${facts.emulator}</emulator><serial type='file'><source path='${facts.log}'/></serial>
  <memballoon model='none'/></devices></domain>`;
}
