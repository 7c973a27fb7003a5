import { describe, test } from 'node:test';
import { type HypervisorWorld, Scene } from './hypervisor-scene.fixture.ts';
import {
  attachesDisks,
  attachesNics,
  changesMedium,
  closesRefusedSwitch,
  forwardsPorts,
  guardsDisks,
  guardsFilesBeneath,
  plugsIntoBridges,
  resizesAndLimits,
  switchesDisks,
  waitsForGuest,
} from './machine-device.contract.ts';
import {
  countsResets,
  keepsCause,
  pressesPowerButton,
  tellsDeath,
  tellsGuestEnds,
  tellsHostRestart,
  tellsStartFailure,
  tellsUnwatchedEnds,
} from './machine-end.contract.ts';
import {
  addsCapacity,
  adopts,
  announces,
  endsWaiting,
  forgets,
  goesOnWithStart,
  keepsPersistent,
  knowsNone,
  pauses,
  runsMany,
  runsOneProcess,
  startsOnce,
  tellsCapabilities,
  tellsUnresponsive,
} from './machine-life.contract.ts';
import {
  goesOnFromMemory,
  keepsMemory,
  keepsMemoryAfterDeath,
  refusesMemoryOfOther,
  tellsWhatCannotBeKept,
} from './machine-memory.contract.ts';
import { keepsSerialLog, missesAgent, sharesScreen, sharesSerial } from './machine-stream.contract.ts';
import {
  endsOutdatedLife,
  endsOutdatedMemory,
  endsOutdatedStart,
  refusesOutdatedDisk,
  refusesOutdatedSwitch,
} from './outdated-file.contract.ts';

export type { HypervisorWorld } from './hypervisor-scene.fixture.ts';

export interface HypervisorContract {
  readonly driver: string;
  /** Why the driver cannot be tried here. */
  readonly skip?: string | undefined;
  readonly withWorld: (use: (world: HypervisorWorld) => Promise<void>) => Promise<void>;
}

/** What every driver must do. */
export function testHypervisor({ driver, skip, withWorld }: HypervisorContract): void {
  describe(`${driver} hypervisor`, { skip: skip ?? false }, () => {
    const check = (name: string, use: (scene: Scene) => Promise<void>): void => {
      test(name, () => withWorld((world) => use(new Scene(world))));
    };
    check('tells what it can do only after it has looked', tellsCapabilities);
    check('starts a machine with its processors standing, once', startsOnce);
    check('tells a guest that powers off from one that reports a panic', tellsGuestEnds);
    check('presses the power button, which a guest may ignore', pressesPowerButton);
    check('counts the resets of the guest, not those from outside', countsResets);
    check('pauses and resumes', pauses);
    check('tells a process that was killed', tellsDeath);
    check('keeps a cause that is there when it is ended', keepsCause);
    check('tells a start that failed, with the words of the program', tellsStartFailure);
    check('announces each change', announces);
    check('finds machines of an earlier life as they are', adopts);
    check('tells every cause apart also when nobody watched', tellsUnwatchedEnds);
    check('tells a restart of the host', tellsHostRestart);
    check('tells a machine that does not answer, and waits for none', tellsUnresponsive);
    check('never runs two processes for one id', runsOneProcess);
    check('goes on with a start that was cut off', goesOnWithStart);
    check('never opens one disk for two machines', guardsDisks);
    check('attaches and detaches disks', attachesDisks);
    check('waits for the guest to let go of a disk', waitsForGuest);
    check('changes the medium of a drive', changesMedium);
    check('resizes and limits disks', resizesAndLimits);
    check('switches disks to new files together', switchesDisks);
    check('keeps memory and disks of one moment while the guest goes on', keepsMemory);
    check('goes on in another process with what was kept', goesOnFromMemory);
    check('lets the guest go on when it dies while memory is kept, and keeps it then', keepsMemoryAfterDeath);
    check('says why the memory of a machine cannot be kept', tellsWhatCannotBeKept);
    check('starts no machine with the memory of a different one', refusesMemoryOfOther);
    check('lets nobody write to a file that lies beneath that of another', guardsFilesBeneath);
    check('keeps no file open for a switch that is refused', closesRefusedSwitch);
    check('ends a machine that has opened what a volume has left, before it runs', endsOutdatedStart);
    check('ends it also in a later life', endsOutdatedLife);
    check('ends it also when it goes on with its memory', endsOutdatedMemory);
    check('gives no disk to a guest whose file a volume has left', refusesOutdatedDisk);
    check('switches no disk to a file that was given up', refusesOutdatedSwitch);
    check('attaches and detaches network cards', attachesNics);
    check('plugs network cards into bridges, and out', plugsIntoBridges);
    check('forwards ports', forwardsPorts);
    check('adds processors and memory', addsCapacity);
    check('shows one serial console to several viewers', sharesSerial);
    check('keeps what the serial console printed', keepsSerialLog);
    check('shows one screen to several viewers', sharesScreen);
    check('says that no guest agent listens', missesAgent);
    check('keeps what has a persistent key', keepsPersistent);
    check('forgets without a trace', forgets);
    check('runs many machines at once', runsMany);
    check('ends the waiting, not the machine, when it is told to', endsWaiting);
    check('knows no machine that was not started', knowsNone);
  });
}
