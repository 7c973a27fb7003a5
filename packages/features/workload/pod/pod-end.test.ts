import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '@sheaf/api/workload/index';
import type { ContainerObservation, SandboxObservation } from '@sheaf/ports';
import { type PodFacts, planPod } from './plan.ts';

const pod: Pod = {
  metadata: {
    name: 'p',
    uid: 'u',
    deletionTimestamp: '2026-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 30,
  },
  spec: { nodeName: 'here', containers: [{ name: 'a' }], restartPolicy: 'Always' },
};

function factsWith(
  state: ContainerObservation['state'],
  sandboxState: SandboxObservation['state'] = 'ready',
): PodFacts {
  const labels = {};
  const observed = { id: 'u_a_0', sandboxId: 'u_0', title: 'a', labels, imageId: 'i', createdAt: 0, state };
  const sandbox = { id: 'u_0', title: 'p', labels, state: sandboxState, addresses: [], createdAt: 0 };
  return {
    pod,
    sandboxes: [{ attempt: 0, sandbox }],
    runs: new Map([['a', [{ container: 'a', attempt: 0, crashes: 0, observed }]]]),
    areVolumesReady: false,
    hasVolumes: false,
    probes: new Map(),
    isHookUnderWay: false,
    nowMs: Date.parse('2026-01-01T00:00:00Z'),
  };
}

it('a container that runs is ended before its sandbox; one that was made and never started goes with it', () => {
  const actions = (state: ContainerObservation['state']): readonly string[] =>
    planPod(factsWith(state)).map(({ action }) => action);
  assert.deepEqual(actions('running'), ['stop']);
  assert.deepEqual(actions('starting'), ['end-sandbox']);
  assert.deepEqual(actions('ended'), ['end-sandbox']);
});

it('what has ended goes in one go; of what nobody knows any more the sandbox, too', () => {
  const actions = (facts: PodFacts): readonly string[] => planPod(facts).map(({ action }) => action);
  const rest = ['remove-runs', 'remove-sandbox', 'remove-volumes', 'let-go'];
  const ended = { ...factsWith('ended', 'ended'), hasVolumes: true };
  assert.deepEqual(actions(ended), rest);
  const { name: _, ...unknown } = pod.metadata;
  const forgotten = { ...factsWith('ended'), pod: { ...pod, metadata: unknown }, hasVolumes: true };
  assert.deepEqual(actions(forgotten), ['end-sandbox', ...rest]);
  assert.deepEqual(actions({ ...ended, sandboxes: [], runs: new Map(), hasVolumes: false }), ['let-go']);
});
