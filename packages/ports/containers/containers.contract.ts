import { describe, test } from 'node:test';
import {
  givesUpStalledPulls,
  guardsUsedImages,
  loadsArchives,
  pullsImages,
} from './container-image.contract.ts';
import {
  givesEnvironment,
  limitsRights,
  mountsDirectories,
  mountsSubPaths,
} from './container-inside.contract.ts';
import {
  adoptsContainers,
  endsWaiting,
  refusesWhatIsAbsent,
  runsContainerOnce,
  runsMany,
  stopsContainers,
  tellsDeathFromOutside,
  tellsHostRestart,
  tellsMemoryShortage,
  tellsStartFailure,
  tellsUsage,
} from './container-run.contract.ts';
import {
  attaches,
  executesCommands,
  followsLogs,
  givesTerminals,
  keepsInput,
  keepsLogs,
  reachesPorts,
} from './container-stream.contract.ts';
import { type ContainerLack, ContainersScene, type ContainersWorld } from './containers-scene.fixture.ts';
import {
  announcesChanges,
  endsSandbox,
  leavesNoTrace,
  runsOnHostNetwork,
  sharesWithinSandbox,
  startsSandboxOnce,
  tellsCapabilities,
  writesNameFiles,
  writesNameFilesOnHostNetwork,
} from './sandbox.contract.ts';

export type { ContainerLack, ContainersWorld, WorldRegistry } from './containers-scene.fixture.ts';

export interface ContainersContract {
  readonly driver: string;
  /** Why the driver cannot be tried here. */
  readonly skip?: string | undefined;
  /** What its containers do not have, as data: checks of these are left out. */
  readonly without?: ReadonlySet<ContainerLack>;
  /** Each time without sandboxes, and with the image of the guest stored. */
  readonly withWorld: (use: (world: ContainersWorld) => Promise<void>) => Promise<void>;
}

/** What every driver must do. */
export function testContainers({ driver, skip, without, withWorld }: ContainersContract): void {
  describe(`${driver} containers`, { skip: skip ?? false }, () => {
    const check = (
      name: string,
      use: (scene: ContainersScene) => Promise<void>,
      needs?: ContainerLack,
    ): void => {
      if (needs === undefined || without?.has(needs) !== true)
        test(name, () => withWorld((world) => use(new ContainersScene(world))));
    };
    check('tells what it can do only after it has looked', tellsCapabilities);
    check('starts a sandbox with an address of its own, once', startsSandboxOnce);
    check('ends a sandbox with all its containers, for good', endsSandbox);
    check('removes a sandbox without a trace', leavesNoTrace);
    check("puts a sandbox on the host's network", runsOnHostNetwork);
    check('lets containers of a sandbox share its name and processes', sharesWithinSandbox, 'namespaces');
    check('writes the files for the names of hosts', writesNameFiles, 'namespaces');
    check('writes them beside those of the host on its network', writesNameFilesOnHostNetwork, 'namespaces');
    check('announces each change', announcesChanges);
    check('runs a container once, whoever asks', runsContainerOnce);
    check('refuses what cannot be, and goes on when it can', refusesWhatIsAbsent);
    check('tells a start that failed, with the words of the program', tellsStartFailure, 'namespaces');
    check('stops a container, in the time that it is given', stopsContainers);
    check('tells a container that was killed', tellsDeathFromOutside);
    check('tells a container that took too much memory', tellsMemoryShortage);
    check('finds containers of an earlier life as they are', adoptsContainers);
    check('tells a restart of the host, and runs nothing again', tellsHostRestart);
    check('runs many containers at once', runsMany);
    check('ends the waiting, not the container, when it is told to', endsWaiting);
    check('tells what containers use', tellsUsage);
    check('gives a container its environment', givesEnvironment, 'namespaces');
    check('mounts directories and files', mountsDirectories, 'namespaces');
    check('mounts parts of directories, and nothing outside', mountsSubPaths);
    check('limits what a container may do', limitsRights, 'namespaces');
    check('keeps what a container printed, also after it', keepsLogs);
    check('follows what a container prints', followsLogs, 'streams');
    check('executes commands', executesCommands, 'streams');
    check('gives terminals', givesTerminals, 'streams');
    check('attaches to a container', attaches, 'streams');
    check('keeps the input of a container for others', keepsInput, 'streams');
    check('reaches ports as from inside', reachesPorts, 'streams');
    check('loads archives of images', loadsArchives, 'images');
    check('guards images that are used', guardsUsedImages, 'images');
    check('pulls images', pullsImages, 'images');
    check('gives up pulls that stand still', givesUpStalledPulls, 'images');
  });
}
