import type { Logger } from '@sheaf/base';
import { plantedFaults as addonFaults } from './addons/planted-faults.ts';
import { runSchedule as runAddons } from './addons/schedule.ts';
import { runSchedule as runControlPlane } from './control-plane/schedule.ts';
import { runKilled } from './virtual-machines/every-step.ts';
import { plantedFaults as machineFaults } from './virtual-machines/planted-faults.ts';
import {
  runLightSchedule as runLightMachines,
  runSchedule as runVirtualMachines,
} from './virtual-machines/schedule.ts';
import { plantedFaults as workloadFaults } from './workloads/planted-faults.ts';
import { runLightSchedule as runLightWorkloads, runSchedule as runWorkloads } from './workloads/schedule.ts';

export interface ScheduleOptions {
  readonly seed: number;
  /** Faults put into the code on purpose, by their names: they must be found. */
  readonly planted?: readonly string[];
  readonly keepsTrace?: boolean;
  readonly logger?: Logger;
}

export interface Outcome {
  readonly seed: number;
  /** Equal for two runs exactly if they took the same steps. */
  readonly fingerprint: string;
  readonly steps: number;
  /** What was found wrong; empty: nothing. */
  readonly complaints: readonly string[];
  readonly trace: readonly string[];
}

/** Something that is run under random schedules. */
interface Subject {
  readonly run: (options: ScheduleOptions) => Promise<Outcome>;
  /** What can be planted into it. */
  readonly faults: readonly string[];
}

const subjects = {
  addons: { run: runAddons, faults: addonFaults },
  'control-plane': { run: runControlPlane, faults: ['trustsGraph', 'ignoresUid', 'deletesUnseen'] },
  'virtual-machines': { run: runVirtualMachines, faults: machineFaults },
  'light-machines': { run: runLightMachines, faults: machineFaults },
  workloads: { run: runWorkloads, faults: workloadFaults },
  'light-workloads': { run: runLightWorkloads, faults: workloadFaults },
  'killed-machines': { run: runKilled, faults: machineFaults },
} as const satisfies Readonly<Record<string, Subject>>;

export type SubjectName = keyof typeof subjects;

/** @throws RangeError naming what there is */
export function subjectNamed(name: string): SubjectName {
  if (name in subjects) return name as SubjectName;
  throw new RangeError(`there is no subject ${name}: use one of ${Object.keys(subjects).join(', ')}`);
}

/** One run, decided by its seed. @throws RangeError for a fault that there is not */
export function runSchedule(subject: SubjectName, options: ScheduleOptions): Promise<Outcome> {
  const { run, faults } = subjects[subject];
  const unknown = options.planted?.find((name) => !(faults as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new RangeError(`there is no fault ${unknown} for ${subject}: use one of ${faults.join(', ')}`);
  return run(options);
}
