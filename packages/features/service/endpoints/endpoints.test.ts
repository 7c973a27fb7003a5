import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoint, EndpointSlice, Endpoints, Service } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { register } from '../register.ts';
import { planEndpoints } from './plan.ts';

const service: Service = {
  metadata: { namespace: 'default', name: 'web', uid: 's', labels: { team: 'a' } },
  spec: { selector: { app: 'web' }, clusterIP: '10.43.0.9', ports: [{ port: 80 }] },
};

function slice(endpoints: readonly Endpoint[], port = 8080): EndpointSlice {
  const ports = [{ name: '', port, protocol: 'TCP' }];
  return { metadata: { namespace: 'default', name: `web-${port}` }, addressType: 'IPv4', ports, endpoints };
}

function wanted(slices: readonly EndpointSlice[], existing?: Endpoints): Endpoints {
  const step = planEndpoints({ service, slices, existing });
  assert.ok(step.action !== 'none');
  return step.object;
}

describe('planEndpoints', () => {
  const ready = { addresses: ['10.42.0.3'], conditions: { ready: true }, nodeName: 'n', hostname: 'h' };
  const starting = { addresses: ['10.42.0.2'], conditions: { ready: false } };

  it('tells who is ready and who is not, by ports', () => {
    const { metadata, subsets } = wanted([slice([ready, starting]), slice([starting], 9090), slice([], 1)]);
    assert.deepEqual(metadata.labels, {
      team: 'a',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    });
    assert.deepEqual(subsets, [
      {
        addresses: [{ ip: '10.42.0.3', hostname: 'h', nodeName: 'n' }],
        notReadyAddresses: [{ ip: '10.42.0.2' }],
        ports: [{ port: 8080, protocol: 'TCP' }],
      },
      { notReadyAddresses: [{ ip: '10.42.0.2' }], ports: [{ port: 9090, protocol: 'TCP' }] },
    ]);
  });

  it('writes nothing where all is said, and leaves those of users alone', () => {
    const existing = wanted([slice([ready])]);
    assert.equal(planEndpoints({ service, slices: [slice([ready])], existing }).action, 'none');
    assert.equal(planEndpoints({ service, slices: [slice([starting])], existing }).action, 'update');
    const { selector: _, ...spec } = service.spec;
    const theirs = { ...service, spec };
    assert.equal(planEndpoints({ service: theirs, slices: [], existing }).action, 'none');
  });

  it('cuts what is too much for one object, and says so', () => {
    const many = Array.from({ length: 1001 }, (_, index) => ({
      addresses: [`10.42.${index >> 8}.${index & 255}`],
    }));
    const { metadata, subsets } = wanted([slice(many)]);
    assert.equal(subsets?.[0]?.addresses?.length, 1000);
    assert.equal(metadata.annotations?.['endpoints.kubernetes.io/over-capacity'], 'truncated');
    const less = wanted([slice(many.slice(1))], { metadata, subsets: subsets ?? [] });
    assert.deepEqual(less.metadata.annotations, undefined);
  });
});

it('Endpoints come with their Service, are made again, and go with it', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager);
  void manager.start();
  const ref = { namespace: 'default', name: 'web' };
  const isThere = async (): Promise<boolean> => (await client.find(resources.endpoints, ref)) !== undefined;
  try {
    await client.create(resources.services, { metadata: ref, spec: service.spec });
    await settle({ clock, until: isThere });
    await client.delete(resources.endpoints, ref);
    await settle({ clock, until: isThere });
    await client.delete(resources.services, ref);
    await settle({ clock, until: async () => !(await isThere()) });
    for (const { counts } of manager.controllers) assert.deepEqual([...counts.failing], []);
  } finally {
    await manager.stop();
    await close();
  }
});
