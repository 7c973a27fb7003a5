import type { Pod } from '@sheaf/api/workload/index';
import { type EngineContainer, engineContainers, remainsOf } from '../../workloads/container-remains.ts';

/** What must never be, whatever is under way: the same thing runs twice. */
export async function doublesOn(directory: string): Promise<readonly string[]> {
  return doublesOf(await engineContainers(directory));
}

/** What must not be once all has come to its end: the pods of all namespaces against what there is of pods on the host, in words. */
export async function differencesOn(directory: string, pods: readonly Pod[]): Promise<readonly string[]> {
  return [
    ...differencesOf(pods, await engineContainers(directory)),
    ...strangersOf(pods, await remainsOf(directory)),
  ];
}

/** One run of a container at a time, and one sandbox for a name, though the pods of a set follow one another under it. */
function doublesOf(containers: readonly EngineContainer[]): readonly string[] {
  const running = containers.filter(({ isRunning }) => isRunning);
  const repeated = (all: readonly string[]): readonly string[] => [
    ...new Set(all.filter((one, index) => all.indexOf(one) !== index)),
  ];
  const titles = running.filter(({ name }) => name.startsWith('sandbox-')).map(({ title }) => title);
  return [
    ...repeated(running.map(withoutAttempt)).map((name) => `${name} runs twice`),
    ...repeated(titles.filter((title) => title !== '')).map((title) => `pod ${title} runs twice`),
  ];
}

/** Each pod that runs has one sandbox and each of its containers once; nothing else runs. */
function differencesOf(pods: readonly Pod[], containers: readonly EngineContainer[]): readonly string[] {
  const running = containers.filter(({ isRunning }) => isRunning).map(withoutAttempt);
  const wanted = pods
    .filter(({ status }) => status?.phase === 'Running')
    .flatMap(({ metadata, spec }) => [
      `sandbox-${metadata.uid}`,
      ...spec.containers.map(({ name }) => `container-${metadata.uid}_${name}`),
    ]);
  return [
    ...wanted.filter((name) => !running.includes(name)).map((name) => `${name} does not run`),
    ...running
      .filter((name) => !wanted.includes(name))
      .map((name) => `${name} runs, and nobody asked for it`),
  ];
}

function withoutAttempt({ name }: EngineContainer): string {
  return name.replace(/_\d+$/, '');
}

const podOf = /(?:\bpods\/|sandbox-|container-)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/;

/** Containers, mounts, files and processes that tell of a pod which is not there. */
function strangersOf(pods: readonly Pod[], remains: readonly string[]): readonly string[] {
  const known = new Set(pods.map(({ metadata }) => metadata.uid));
  return remains
    .filter((words) => {
      const uid = podOf.exec(words)?.[1];
      return uid !== undefined && !known.has(uid);
    })
    .map((words) => `${words} belongs to no pod`);
}
