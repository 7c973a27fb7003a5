import { booleanField, integerField, jsonObjectOf } from './json-fields.ts';
import { parseInteger, parseNumber } from './number-texts.ts';
import type { SettingFormat } from './setting-format.ts';
import { SettingProblem } from './setting-problem.ts';

/** How many times over something may be given out, in percent: 100 is once. */
export interface Overcommit {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
}

export const overcommitConfig: SettingFormat<Overcommit> = {
  name: 'overcommit-config',
  default: '{"cpu":1000,"memory":150,"storage":100}',
  parse(text) {
    const object = jsonObjectOf(text);
    const share = (field: string): number => {
      const percent = integerField(object, field);
      if (percent >= 100) return percent;
      throw new SettingProblem(
        `${field} is ${percent} percent: less would be given out than there is`,
        `Set ${field} to 100 or more; all of cpu, memory and storage must be given.`,
      );
    };
    return { cpu: share('cpu'), memory: share('memory'), storage: share('storage') };
  },
};

/** How long a guest gets to shut down before it is ended, in seconds, where its machine says nothing. */
export const terminationGracePeriod: SettingFormat<number> = {
  name: 'default-vm-termination-grace-period-seconds',
  default: '120',
  parse: (text) => parseInteger(text, { min: 0 }),
};

/** By what the memory that a machine needs beside its guest's is multiplied; 0: nothing is added. */
export const memoryOverheadRatio: SettingFormat<number> = {
  name: 'additional-guest-memory-overhead-ratio',
  default: '1.5',
  parse(text) {
    const ratio = parseNumber(text);
    if (ratio === 0 || (ratio >= 1 && ratio <= 10)) return ratio;
    throw new SettingProblem(
      `${text} is out of range`,
      'Write a number from 1.0 to 10.0, or 0 to add nothing.',
    );
  },
};

/** How many times its processors and its memory a machine may grow while it runs. */
export const maxHotplugRatio: SettingFormat<number> = {
  name: 'max-hotplug-ratio',
  default: '4',
  parse: (text) => parseInteger(text, { min: 1, max: 20 }),
};

/** What happens to the machines of a node that is not heard of. */
export interface ForceResetPolicy {
  readonly enable: boolean;
  /** How long the node may be silent. */
  readonly periodSeconds: number;
  /** How long its machines get to move, after that. */
  readonly migrationTimeoutSeconds: number;
}

const defaultMigrationTimeoutSeconds = 180;

export const forceResetPolicy: SettingFormat<ForceResetPolicy> = {
  name: 'vm-force-reset-policy',
  default: '{"enable":true,"period":15,"vmMigrationTimeout":180}',
  parse(text) {
    const object = jsonObjectOf(text);
    const period = integerField(object, 'period');
    const timeout = integerField(object, 'vmMigrationTimeout');
    if (period <= 0)
      throw new SettingProblem(`period is ${period}`, 'Set period to the number of seconds, 1 or more.');
    if (timeout < 0)
      throw new SettingProblem(
        `vmMigrationTimeout is ${timeout}`,
        'Set vmMigrationTimeout to a number of seconds, or to 0 for 180.',
      );
    return {
      enable: booleanField(object, 'enable'),
      periodSeconds: period,
      migrationTimeoutSeconds: timeout === 0 ? defaultMigrationTimeoutSeconds : timeout,
    };
  },
};
