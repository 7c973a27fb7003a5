import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { TestServer } from '@sheaf/testkit';
import { type Fields, kinds, named, outcome, startAdmissionServer } from './admission-server.fixture.ts';

interface Spec extends Fields {
  readonly clusterIP?: string;
  readonly clusterIPs?: string[];
  readonly ports: { readonly nodePort?: number; readonly name?: string }[];
}

const port = { port: 80, protocol: 'TCP' };
const specOf = (service: KubeObject): Spec => service['spec'] as Spec;

describe('ServiceAddresses', () => {
  let test: TestServer;
  before(async () => (test = await startAdmissionServer()));
  after(() => test.close());

  const service = (name: string, spec: Fields = {}): KubeObject =>
    named(name, { spec: { ports: [port], selector: { app: name }, ...spec } });
  const make = async (name: string, spec: Fields = {}): Promise<Spec> =>
    specOf(await test.client.create(kinds.services, service(name, spec)));
  const refused = (name: string, spec: Fields): Promise<string> =>
    outcome(test.client.create(kinds.services, service(name, spec)));

  it('gives a cluster address and says of what family', async () => {
    const spec = await make('a');
    assert.match(spec.clusterIP ?? '', /^10\.43\.\d+\.\d+$/);
    assert.deepEqual(spec.clusterIPs, [spec.clusterIP]);
    assert.deepEqual([spec['ipFamilies'], spec['ipFamilyPolicy']], [['IPv4'], 'SingleStack']);
  });

  it('gives what is asked for, once', async () => {
    assert.equal((await make('b', { clusterIP: '10.43.0.10' })).clusterIP, '10.43.0.10');
    const invalid = '422 Service "c" is invalid: spec.clusterIPs: Invalid value:';
    assert.equal(
      await refused('c', { clusterIP: '10.43.0.10' }),
      `${invalid} ["10.43.0.10"]: failed to allocate IP 10.43.0.10: provided IP is already allocated`,
    );
    assert.equal(
      await refused('c', { clusterIP: '1.2.3.4' }),
      `${invalid} ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range`,
    );
    assert.equal(
      await refused('c', { clusterIP: 'fd00::1' }),
      '422 Service "c" is invalid: spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    );
    await test.client.delete(kinds.services, { namespace: 'default', name: 'b' });
    assert.equal((await make('c', { clusterIP: '10.43.0.10' })).clusterIP, '10.43.0.10');
  });

  it('gives no address twice, whatever happens at once', async () => {
    const dryRun = { dryRun: true };
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        test.client.create(
          kinds.services,
          service(`many-${index}`, { type: 'NodePort' }),
          index % 4 === 0 ? dryRun : {},
        ),
      ),
    );
    const kept = made.filter((_, index) => index % 4 !== 0).map(specOf);
    assert.equal(new Set(kept.map((spec) => spec.clusterIP)).size, 150);
    assert.equal(new Set(kept.map((spec) => spec.ports[0]?.nodePort)).size, 150);
    const wanted = await Promise.all(
      Array.from({ length: 20 }, (_, index) => refused(`one-${index}`, { clusterIP: '10.43.0.99' })),
    );
    assert.equal(wanted.filter((text) => text === 'ok').length, 1);
  });

  it('gives back what a failed write had reserved', async () => {
    const bad = { clusterIP: '10.43.0.50', type: 'NodePort', ports: [{ ...port, nodePort: 80 }] };
    assert.equal(
      await refused('bad', bad),
      '422 Service "bad" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
    assert.equal((await make('good', { clusterIP: '10.43.0.50' })).clusterIP, '10.43.0.50');
  });

  it('keeps what it gave when a client leaves it out', async () => {
    const before = await make('kept', { type: 'NodePort' });
    const after = specOf(
      await test.client.update(
        kinds.services,
        service('kept', { type: 'NodePort', ports: [{ ...port, port: 81 }] }),
      ),
    );
    assert.equal(after.clusterIP, before.clusterIP);
    assert.equal(after.ports[0]?.nodePort, before.ports[0]?.nodePort);
  });

  it('takes away what another type does not have', async () => {
    await make('turned', { type: 'NodePort' });
    const inside = specOf(await test.client.update(kinds.services, service('turned', { type: 'ClusterIP' })));
    assert.equal(inside.ports[0]?.nodePort, undefined);
    const named = { type: 'ExternalName', externalName: 'x.example', selector: undefined };
    const outside = specOf(await test.client.update(kinds.services, service('turned', named)));
    assert.deepEqual(
      [outside.clusterIP, outside.clusterIPs, outside['ipFamilies']],
      [undefined, undefined, undefined],
    );
    const back = specOf(await test.client.update(kinds.services, service('turned')));
    assert.match(back.clusterIP ?? '', /^10\.43\./);
  });

  it('gives headless services no address', async () => {
    const spec = await make('headless', { clusterIP: 'None' });
    assert.deepEqual(
      [spec.clusterIPs, spec['ipFamilies'], spec['ipFamilyPolicy']],
      [['None'], ['IPv4'], 'SingleStack'],
    );
    const free = await make('free', { clusterIP: 'None', selector: undefined });
    assert.deepEqual([free['ipFamilies'], free['ipFamilyPolicy']], [['IPv4', 'IPv6'], 'RequireDualStack']);
  });

  it('refuses two stacks where there is one', async () => {
    assert.equal(
      await refused('dual', { ipFamilyPolicy: 'RequireDualStack' }),
      '422 Service "dual" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    );
    assert.deepEqual((await make('prefers', { ipFamilyPolicy: 'PreferDualStack' }))['ipFamilies'], ['IPv4']);
  });

  it('shares a node port between protocols of one port', async () => {
    const ports = ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
    const spec = await make('dns', { type: 'NodePort', ports });
    assert.equal(spec.ports[0]?.nodePort, spec.ports[1]?.nodePort);
  });
});
