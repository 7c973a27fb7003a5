import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../program.ts';

/** A container of the engine, as podman lists it. */
export interface EngineContainer {
  /** `sandbox-UID_ATTEMPT` or `container-UID_NAME_ATTEMPT`. */
  readonly name: string;
  readonly isRunning: boolean;
  /** `NAMESPACE/POD`, with `/CONTAINER` for one of its containers. */
  readonly title: string;
  /** Its first process on the host; 0: none. */
  readonly processId: number;
}

/** All containers in the engine of a data directory, whatever Sheaf says. */
export async function engineContainers(directory: string): Promise<readonly EngineContainer[]> {
  const { code, out, err } = await podman(directory, ['ps', '--all', '--format', 'json']);
  if (code !== 0) throw new Error(`podman ps: ${err}`);
  const all = JSON.parse(out || '[]') as readonly {
    readonly Names: readonly string[];
    readonly State: string;
    readonly Labels: Readonly<Record<string, string>> | null;
    readonly Pid: number;
  }[];
  return all.map(({ Names: [name = ''], State, Labels, Pid }) => ({
    name,
    isRunning: State === 'running',
    title: Labels?.['sheaf.title'] ?? '',
    processId: Pid,
  }));
}

/** The engine's own podman, beside Sheaf. */
export function podman(directory: string, args: readonly string[]): ReturnType<typeof runProgram> {
  const config = join(directory, 'podman/config');
  return runProgram('podman', args, {
    env: {
      HOME: join(config, 'home'),
      CONTAINERS_CONF: join(config, 'containers.conf'),
      CONTAINERS_STORAGE_CONF: join(config, 'storage.conf'),
      CONTAINERS_REGISTRIES_CONF: join(config, 'registries.conf'),
    },
  });
}

/** What pods have left on this host, in words; nothing once all of them are gone. */
export async function remainsOf(directory: string): Promise<readonly string[]> {
  const [containers, mounts, loops, files, processes] = await Promise.all([
    engineContainers(directory),
    mountsBelow(directory),
    loopsOn(directory),
    podFiles(directory),
    processesOf(directory),
  ]);
  const pods = mounts.filter((path) => !path.startsWith(join(directory, 'podman/storage')));
  return [
    ...containers.map(({ name }) => `container ${name}`),
    ...pods.map((path) => `mount ${path}`),
    ...loops.map((device) => `loop device ${device}`),
    ...files.map((path) => `file ${path}`),
    ...processes
      .filter(({ words }) => isOfPods(words))
      .map(({ id, words }) => `process ${id}: ${words.slice(0, shownWords)}`),
  ];
}

const shownWords = 200;

function isOfPods(words: string): boolean {
  return words.includes('conmon') || words.includes('qemu-storage-daemon');
}

async function podFiles(directory: string): Promise<readonly string[]> {
  const places = ['pods', 'podman/records', 'podman/logs', 'podman/run/names'];
  const found = await Promise.all(
    places.map(async (place) => {
      const names = await readdir(join(directory, place)).catch(() => []);
      return names
        .filter((name) => /^[0-9a-f]{8}-|^(sandbox|container)-/.test(name))
        .map((name) => join(place, name));
    }),
  );
  return found.flat();
}

async function mountsBelow(directory: string): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mounts', 'utf8');
  return table
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${directory}/`));
}

async function loopsOn(directory: string): Promise<readonly string[]> {
  const { out } = await runProgram('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE']);
  return out.split('\n').filter((line) => line.includes(`${directory}/`));
}

interface HostProcess {
  readonly id: number;
  readonly words: string;
}

/** Those that have the directory on their command line; it is of one test alone. */
async function processesOf(directory: string): Promise<readonly HostProcess[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(
    ids.map(async (id) => {
      const text = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      return { id, words: text.replaceAll('\0', ' ').trim() };
    }),
  );
  return all.filter(({ id, words }) => id !== process.pid && words.includes(`${directory}/`));
}

/** Takes away whatever a Sheaf that does not run any more has left, however it ended; its files stay. */
export async function removeRemains(directory: string): Promise<void> {
  await podman(directory, ['rm', '--all', '--force', '--time', '0']).catch(() => undefined);
  for (const { id } of await processesOf(directory))
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  for (const path of (await mountsBelow(directory)).toReversed())
    await runProgram('umount', ['--lazy', path]);
  for (const line of await loopsOn(directory))
    await runProgram('losetup', ['--detach', line.split(' ')[0] ?? '']);
  await removeBridge(directory);
  await rm(join(directory, 'podman'), { recursive: true, force: true });
}

async function removeBridge(directory: string): Promise<void> {
  const networks = join(directory, 'podman/config/networks');
  for (const file of await readdir(networks).catch(() => []))
    try {
      const text = await readFile(join(networks, file), 'utf8');
      const { network_interface: name } = JSON.parse(text) as { readonly network_interface?: string };
      if (name?.startsWith('shp')) await runProgram('ip', ['link', 'delete', name]);
    } catch {
      // It is no network.
    }
}
