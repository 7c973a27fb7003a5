import type { StrategyMachine } from './strategy-machine.ts';

export const strategies = ['Always', 'RerunOnFailure', 'Once', 'Manual', 'Halted'] as const;
export type Strategy = (typeof strategies)[number];

/**
 * One event for each run strategy, and where the machine ends: the same table as that of the planner, here with real processes. A
 * machine under Halted has been started by its user and stopped again. `made`: how many instances it has had altogether.
 */
export interface Row {
  readonly event: string;
  readonly when: (machine: StrategyMachine) => Promise<unknown>;
  readonly ends: Readonly<Record<Strategy, string>>;
}

export const rows: readonly Row[] = [
  {
    event: 'nothing',
    when: async () => undefined,
    ends: { Always: 'running', RerunOnFailure: 'running', Once: 'running', Manual: 'running', Halted: 'off' },
  },
  {
    event: 'guest-shutdown',
    when: (machine) => machine.inGuest('power off'),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'off',
      Once: 'Succeeded',
      Manual: 'Succeeded',
      Halted: 'off',
    },
  },
  {
    event: 'guest-panic',
    when: (machine) => machine.inGuest('panic'),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'Failed',
      Manual: 'Failed',
      Halted: 'off',
    },
  },
  {
    event: 'process-killed',
    when: (machine) => machine.killProcess(),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'Failed',
      Manual: 'Failed',
      Halted: 'off',
    },
  },
  {
    event: 'user-stops',
    when: (machine) => machine.ask('stop'),
    ends: {
      Always: 'off, is Halted',
      RerunOnFailure: 'off',
      Once: 'off, is Halted',
      Manual: 'off',
      Halted: 'off, refused 409',
    },
  },
  {
    event: 'user-starts',
    when: (machine) => machine.ask('start'),
    ends: {
      Always: 'running, refused 409',
      RerunOnFailure: 'running, refused 409',
      Once: 'running, refused 409',
      Manual: 'running, refused 409',
      Halted: 'running, made 2, is RerunOnFailure',
    },
  },
  {
    event: 'user-restarts',
    when: (machine) => machine.ask('restart'),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'running, refused 409',
      Manual: 'running, made 2',
      Halted: 'off, refused 409',
    },
  },
  {
    event: 'user-restarts-stopped',
    async when(machine) {
      await machine.stopped();
      await machine.ask('restart');
    },
    ends: {
      Always: 'off, is Halted, refused 409',
      RerunOnFailure: 'off, refused 409',
      Once: 'off, is Halted, refused 409',
      Manual: 'off, refused 409',
      Halted: 'off, refused 409',
    },
  },
  {
    event: 'user-stops-and-starts',
    async when(machine) {
      await machine.stopped();
      await machine.ask('start');
    },
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'running, made 2',
      Manual: 'running, made 2',
      Halted: 'running, made 2, is RerunOnFailure',
    },
  },
  {
    event: 'panic-while-stopping',
    async when(machine) {
      await machine.inGuest('go deaf');
      await machine.ask('stop');
      await machine.inGuest('panic');
    },
    ends: {
      Always: 'off, is Halted',
      RerunOnFailure: 'off',
      Once: 'off, is Halted',
      Manual: 'off',
      Halted: 'off, refused 409',
    },
  },
  {
    event: 'user-deletes',
    when: (machine) => machine.remove(),
    ends: { Always: 'gone', RerunOnFailure: 'gone', Once: 'gone', Manual: 'gone', Halted: 'gone' },
  },
];
