import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { MachineObservation } from '@sheaf/ports';
import { planSweep } from './host-sweep.ts';

function machineOf(id: string, state: MachineObservation['state']): MachineObservation {
  const nothing = { devices: [], forwards: [], sockets: 1, memoryBytes: 1, guestResets: 0 };
  return { id, title: `default/${id}`, state, startedAt: 0, isAgentConnected: false, ...nothing };
}

const empty = { machines: [], fileOwners: [], instances: new Set<string>(), since: new Map(), nowMs: 0 };

it('what has its instance is left alone, whatever state it is in', () => {
  const machines = [machineOf('a', 'running'), machineOf('b', 'ended'), machineOf('c', 'starting')];
  const instances = new Set(['a', 'b', 'c', 'd']);
  assert.deepEqual(planSweep({ ...empty, machines, instances, fileOwners: ['a', 'd'] }), []);
});

it('guests of nobody are asked to shut down, and ended when they had time for it', () => {
  const machines = [
    machineOf('young', 'running'),
    machineOf('old', 'running'),
    machineOf('mute', 'paused'),
    machineOf('old-and-mute', 'unresponsive'),
  ];
  const since = new Map([
    ['young', 1],
    ['old', 0],
    ['mute', 1],
    ['old-and-mute', 0],
  ]);
  const steps = planSweep({ ...empty, machines, since, nowMs: 300_000 });
  assert.deepEqual(
    steps.map(({ action, id }) => [action, id]),
    [
      ['shut-down', 'young'],
      ['end', 'old'],
      ['end', 'old-and-mute'],
    ],
  );
});

it('traces of machines go first, then their files', () => {
  const facts = { ...empty, machines: [machineOf('a', 'ended')], fileOwners: ['a', 'b'] };
  assert.deepEqual(
    planSweep(facts).map(({ action, id }) => [action, id]),
    [
      ['forget', 'a'],
      ['remove-files', 'b'],
    ],
  );
});
