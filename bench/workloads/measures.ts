import { setTimeout as delay } from 'node:timers/promises';
import { busyMilliseconds, cpuMilliseconds, memory } from '../measure/process-usage.ts';
import type { Results, ServerName } from '../report/table.ts';
import type { PodmanPeer } from './peer.ts';
import type { PodSubject } from './subject.ts';

export interface Parts {
  readonly peer: PodmanPeer;
  readonly subject: PodSubject;
  readonly results: Results;
  readonly sizes: {
    readonly rounds: number;
    readonly many: number;
    readonly manyRounds: number;
    readonly idleSeconds: number;
  };
}

export const rowNames = {
  start: 'pod start',
  startBesidePod: 'pod start, beside a pod of podman',
  stop: 'pod stop without grace',
  stopBesidePod: 'pod stop without grace, beside a pod of podman',
} as const;

const clients = 8;
/** Sheaf gives memory back when it has been idle for two seconds. */
const restMs = 5000;

/** The first pod comes to an engine that the import of the image has tried out and started. */
export async function measureFirst({ subject, peer, results }: Parts): Promise<void> {
  const value = await timed(() => subject.run(['first']));
  results.add('subject', {
    name: 'first pod after the import of its image',
    unit: 'ms',
    better: 'lower',
    value,
  });
  const [ours, theirs] = await Promise.all([subject.settings(), peer.settings()]);
  if (ours !== theirs) throw new Error(`the engines are told different things:\n${ours}\n${theirs}`);
  await subject.remove('first');
  await peer.run('first');
  await peer.remove('first');
}

/** One pod after the other, in turns; who begins changes. */
export async function measureSingle(parts: Parts): Promise<void> {
  const sides = [singleContainer, singlePod, singleSubject];
  for (let round = 0; round < parts.sizes.rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side(parts, `single-${round}`);
}

async function singleContainer({ peer, results }: Parts, name: string): Promise<void> {
  addMs(results, 'peer', { name: rowNames.start, value: await timed(() => peer.run(name)) });
  addMs(results, 'peer', { name: rowNames.stop, value: await timed(() => peer.remove(name)) });
}

async function singlePod({ peer, results }: Parts, name: string): Promise<void> {
  addMs(results, 'peer', { name: rowNames.startBesidePod, value: await timed(() => peer.runInPod(name)) });
  addMs(results, 'peer', { name: rowNames.stopBesidePod, value: await timed(() => peer.removeInPod(name)) });
}

async function singleSubject({ subject, results }: Parts, name: string): Promise<void> {
  const start = await timed(() => subject.run([name]));
  addMs(results, 'subject', { name: rowNames.start, value: start });
  addMs(results, 'subject', { name: rowNames.startBesidePod, value: start });
  const stop = await timed(() => subject.remove(name));
  addMs(results, 'subject', { name: rowNames.stop, value: stop });
  addMs(results, 'subject', { name: rowNames.stopBesidePod, value: stop });
}

/** Many at once, in turns, with the processor time of the whole machine; those of the last round go on running under Sheaf. */
export async function measureMany(parts: Parts): Promise<void> {
  const { subject, sizes } = parts;
  await delay(restMs);
  await measureMemory(parts, 'without a pod');
  for (let round = 0; round < sizes.manyRounds; round++) {
    if (round > 0) {
      const value = await timed(() => subject.removeAll());
      addMs(parts.results, 'subject', { name: `${sizes.many} deleted at once`, value });
    }
    await manyUnderPodman(parts, round);
    await manyUnderSheaf(parts, round);
  }
}

async function manyUnderPodman({ peer, results, sizes }: Parts, round: number): Promise<void> {
  const { many } = sizes;
  const names = namesOf(many, round);
  const atOnce = await loaded(async () => {
    await Promise.all(names.map((name) => peer.run(name)));
  });
  addMs(results, 'peer', { name: `${many} at once, all running`, value: atOnce.ms });
  addCpu(results, 'peer', { name: 'for each of them, the whole machine', value: atOnce.busyMs / many });
  addMs(results, 'peer', { name: `${many} deleted at once`, value: await timed(() => peer.removeAll()) });
  const inTurn = await timed(async () => {
    for (const name of names) await peer.run(name);
  });
  addMs(results, 'peer', { name: `${many} beside one after another`, value: inTurn });
  await peer.removeAll();
}

async function manyUnderSheaf({ subject, results, sizes }: Parts, round: number): Promise<void> {
  const { many } = sizes;
  const service = await subject.servicePid();
  const before = { sheaf: cpuMilliseconds([subject.pid]), service: cpuMilliseconds([service]) };
  const { ms, busyMs } = await loaded(() => subject.run(namesOf(many, round), clients));
  addMs(results, 'subject', { name: `${many} at once, all running`, value: ms });
  addMs(results, 'subject', { name: `${many} beside one after another`, value: ms });
  addCpu(results, 'subject', { name: 'for each of them, the whole machine', value: busyMs / many });
  const sheaf = (cpuMilliseconds([subject.pid]) - before.sheaf) / many;
  addCpu(results, 'subject', { name: 'for each of them, Sheaf itself', value: sheaf });
  const value = (cpuMilliseconds([service]) - before.service) / many;
  addCpu(results, 'subject', { name: "for each of them, podman's service", value });
}

/** What stands there costs while nobody asks for anything. */
export async function measureIdle(parts: Parts): Promise<void> {
  const { subject, results, sizes } = parts;
  await delay(restMs);
  const pids = { Sheaf: subject.pid, "podman's service": await subject.servicePid() };
  const before = Object.entries(pids).map(([who, pid]) => ({ who, pid, cpu: cpuMilliseconds([pid]) }));
  await delay(sizes.idleSeconds * 1000);
  for (const { who, pid, cpu } of before) {
    const value = (cpuMilliseconds([pid]) - cpu) / (sizes.idleSeconds * 10);
    const name = `${who} while ${sizes.many} run`;
    results.add('subject', { name, unit: '% of a processor', better: 'lower', value });
  }
  await measureMemory(parts, `while ${sizes.many} run`);
}

async function measureMemory({ subject, results }: Parts, when: string): Promise<void> {
  const pids = { Sheaf: subject.pid, "podman's service": await subject.servicePid() };
  for (const [who, pid] of Object.entries(pids))
    results.add('subject', {
      name: `memory of ${who} ${when}`,
      unit: 'MiB',
      better: 'lower',
      value: memory([pid]).pss,
    });
}

function namesOf(count: number, round: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `many-${round}-${index}`);
}

async function timed(act: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

/** With the processor time that the whole machine has used meanwhile, which is only this act's where nothing else runs. */
async function loaded(act: () => Promise<void>): Promise<{ readonly ms: number; readonly busyMs: number }> {
  const busy = busyMilliseconds();
  const ms = await timed(act);
  return { ms, busyMs: busyMilliseconds() - busy };
}

interface Taken {
  readonly name: string;
  readonly value: number;
}

function addMs(results: Results, side: ServerName, taken: Taken): void {
  results.add(side, { ...taken, unit: 'ms', better: 'lower' });
}

function addCpu(results: Results, side: ServerName, taken: Taken): void {
  results.add(side, { ...taken, unit: 'CPU ms', better: 'lower' });
}
