import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Where everything of one engine is: nothing of it is anywhere else, but devices, mounts and rules that end with its sandboxes. */
export interface EngineLayout {
  readonly directory: string;
  /** Images and containers. */
  readonly storage: string;
  /** What does not outlive a restart of the host. */
  readonly run: string;
  readonly temporary: string;
  /** Home directory of the engine: what it would look for in the user's. */
  readonly home: string;
  readonly networks: string;
  readonly containersConf: string;
  readonly conmon: string;
  readonly storageConf: string;
  readonly registriesConf: string;
  /** One directory for each sandbox, in it one for each container. */
  readonly logs: string;
  readonly records: string;
  /** Where parts of directories are held that containers mount. */
  readonly subPaths: string;
  /** Files for the names of hosts: one directory for each sandbox. */
  readonly names: string;
  readonly pulls: string;
  readonly serviceLog: string;
  readonly serviceRecord: string;
  readonly bootRecord: string;
  /** Of the network of pods, and of its bridge: another one for each directory. */
  readonly networkName: string;
  readonly bridgeName: string;
}

export function engineLayout(directory: string): EngineLayout {
  const mark = createHash('sha256').update(directory).digest('hex').slice(0, 10);
  const inRun = (name: string): string => join(directory, 'run', name);
  const inConfig = (name: string): string => join(directory, 'config', name);
  return {
    directory,
    storage: join(directory, 'storage'),
    run: inRun('engine'),
    temporary: join(directory, 'temporary'),
    home: inConfig('home'),
    networks: inConfig('networks'),
    containersConf: inConfig('containers.conf'),
    conmon: inConfig('conmon'),
    storageConf: inConfig('storage.conf'),
    registriesConf: inConfig('registries.conf'),
    logs: join(directory, 'logs'),
    records: join(directory, 'records'),
    subPaths: inRun('sub-paths'),
    names: inRun('names'),
    pulls: join(directory, 'pulls'),
    serviceLog: inRun('service.log'),
    serviceRecord: inRun('service'),
    bootRecord: inRun('boot'),
    networkName: `sheaf-${mark}`,
    bridgeName: `shp${mark}`,
  };
}
