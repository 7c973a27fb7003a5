import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conmonScript } from './conmon-script.ts';
import type { EngineLayout } from './engine-layout.ts';

/** What was found to work by trying. */
export interface EngineChoice {
  readonly runtime: string;
  readonly storage: string;
}

export interface EngineSettings extends EngineChoice {
  /** Of the network of pods, such as `10.42.0.0/24`; without one there is none. */
  readonly podSubnet?: string;
  /** At most so many open files and processes, which is what this process may give. */
  readonly fileLimit: number;
  /** The program that watches over each container. */
  readonly conmon: string;
  readonly processLimit: number;
}

/**
 * Writes what the engine reads instead of the host's own configuration.
 *
 * Locks are files: others would lie in one segment of shared memory with those of every other engine of the host, and the first
 * start of any engine after a restart of the host frees them all.
 */
export async function writeEngineFiles(layout: EngineLayout, settings: EngineSettings): Promise<void> {
  const policyDirectory = join(layout.home, '.config', 'containers');
  const directories = [
    layout.storage,
    layout.run,
    layout.temporary,
    layout.networks,
    layout.logs,
    layout.records,
    layout.subPaths,
    layout.names,
    layout.pulls,
    policyDirectory,
  ];
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 });
  await put(layout.containersConf, containersConf(layout, settings));
  await put(layout.conmon, conmonScript({ conmon: settings.conmon, storageConf: layout.storageConf }));
  await put(layout.storageConf, storageConf(layout, settings));
  await put(layout.registriesConf, 'unqualified-search-registries = []\nshort-name-mode = "disabled"\n');
  await put(join(policyDirectory, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}\n');
  if (settings.podSubnet !== undefined)
    await put(join(layout.networks, `${layout.networkName}.json`), networkFile(layout, settings.podSubnet));
}

/** Programs that run on from before read these files, and execute one of them: a file is there as a whole, or as it was. */
async function put(path: string, text: string): Promise<void> {
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found === text) return;
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, text, { mode: 0o700 });
  await rename(fresh, path);
}

function containersConf(layout: EngineLayout, settings: EngineSettings): string {
  const limit = (name: string, value: number): string => `"${name}=${value}:${value}"`;
  return [
    '[containers]',
    `default_ulimits = [${limit('nofile', settings.fileLimit)}, ${limit('nproc', settings.processLimit)}]`,
    'http_proxy = false',
    'pids_limit = 0',
    '[engine]',
    // What watched a command in a container waits so long for somebody who asks how it ended; the usual five minutes would
    // leave a hundred processes of one probe.
    'exit_command_delay = 20',
    'cgroup_manager = "cgroupfs"',
    `conmon_path = [${quoted(layout.conmon)}]`,
    'events_logger = "file"',
    `events_logfile_path = ${quoted(join(layout.run, 'events.log'))}`,
    'lock_type = "file"',
    `runtime = ${quoted(settings.runtime)}`,
    `static_dir = ${quoted(join(layout.storage, 'libpod'))}`,
    `tmp_dir = ${quoted(join(layout.run, 'libpod'))}`,
    `volume_path = ${quoted(join(layout.storage, 'volumes'))}`,
    `image_copy_tmp_dir = ${quoted(layout.temporary)}`,
    '[network]',
    'network_backend = "netavark"',
    `network_config_dir = ${quoted(layout.networks)}`,
    `default_network = ${quoted(layout.networkName)}`,
    '',
  ].join('\n');
}

function storageConf(layout: EngineLayout, { storage }: EngineSettings): string {
  return [
    '[storage]',
    `driver = ${quoted(storage)}`,
    `graphroot = ${quoted(layout.storage)}`,
    `runroot = ${quoted(layout.run)}`,
    // Else the directory of layers would stay mounted on itself after the last container.
    '[storage.options.overlay]',
    'skip_mount_home = "true"',
    '',
  ].join('\n');
}

function networkFile(layout: EngineLayout, subnet: string): string {
  const network = {
    name: layout.networkName,
    id: createHash('sha256').update(layout.networkName).digest('hex'),
    driver: 'bridge',
    network_interface: layout.bridgeName,
    created: '1970-01-01T00:00:00Z',
    subnets: [{ subnet, gateway: gatewayOf(subnet) }],
    ipv6_enabled: false,
    internal: false,
    dns_enabled: false,
    ipam_options: { driver: 'host-local' },
  };
  return `${JSON.stringify(network)}\n`;
}

/** The first address after the network's own. */
export function gatewayOf(subnet: string): string {
  const [address = ''] = subnet.split('/');
  const parts = address.split('.').map(Number);
  return [...parts.slice(0, 3), (parts[3] ?? 0) + 1].join('.');
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
