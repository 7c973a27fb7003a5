import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerSpec } from '@sheaf/ports';
import { containerRequest } from './container-request.ts';
import { gatewayOf } from './engine-files.ts';
import { rangeOf } from './pod-subnet.ts';

const spec: ContainerSpec = {
  id: 'one',
  sandboxId: 'pod',
  title: 'default/pod/one',
  labels: { app: 'x' },
  imageId: 'sha256:abc',
  environment: { A: 'b' },
  mounts: [],
  resources: {
    cpuShares: 512,
    cpuLimit: 0.25,
    memoryLimitBytes: 1024,
    processLimit: 9,
    outOfMemoryScore: -500,
  },
  security: {
    droppedCapabilities: ['ALL'],
    addedCapabilities: ['NET_ADMIN'],
    seccomp: { kind: 'unconfined' },
  },
  hasInput: false,
  hasTerminal: false,
  stopSignal: 'QUIT',
};

const context = {
  sandbox: { processes: 'sandbox', sharedMemory: 'host', network: 'pod' },
  mounts: [],
  logPath: '/logs/log',
  lowestScore: 0,
} as const;

test('limits, rights and namespaces are told in the words of the engine', () => {
  const request = containerRequest(spec, context);
  assert.deepEqual(request['resource_limits'], {
    cpu: { shares: 512, quota: 25_000, period: 100_000 },
    memory: { limit: 1024, swap: 1024 },
    pids: { limit: 9 },
  });
  assert.equal(request['oom_score_adj'], 0);
  assert.deepEqual([request['cap_drop'], request['cap_add']], [['ALL'], ['CAP_NET_ADMIN']]);
  assert.equal(request['seccomp_profile_path'], 'unconfined');
  assert.equal(request['stop_signal'], 3);
  const within = { nsmode: 'container', value: 'sandbox-pod' };
  assert.deepEqual(
    [request['netns'], request['pidns'], request['ipcns']],
    [within, within, { nsmode: 'host' }],
  );
  assert.equal('command' in request || 'entrypoint' in request || 'user' in request, false);
});

test('a signal that there is not is refused', () => {
  for (const stopSignal of ['SIGNONE', '0', '65'])
    assert.throws(() => containerRequest({ ...spec, stopSignal }, context), /no signal/);
});

test('networks have a gateway and a range', () => {
  assert.equal(gatewayOf('10.42.0.64/26'), '10.42.0.65');
  assert.deepEqual(rangeOf('10.42.0.70/26'), { first: 0x0a2a0040, last: 0x0a2a007f });
});
