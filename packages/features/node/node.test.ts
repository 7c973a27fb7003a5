import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NodeObject } from '@sheaf/api/node/index';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import {
  SeededRandom,
  serveKinds,
  settle,
  startTestServer,
  TestClock,
  type TestServer,
} from '@sheaf/testkit';
import { SimulatedHostFacts } from '@sheaf/testkit/host/index';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import type { NodeLease } from './lease.ts';
import { extend, register } from './register.ts';

const kinds = ['virtualmachines.kubevirt.io', 'virtualmachineinstances.kubevirt.io'];
const { nodes, leases } = resources;
const own = { name: 'node-1' };

interface World extends TestServer {
  readonly clock: TestClock;
  readonly host: SimulatedHostFacts;
  until(claim: (node: NodeObject | undefined) => boolean, name?: string): Promise<void>;
  act(action: string, body?: object): Promise<string>;
}

async function withNode(use: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend: (api, client) => extend(api, { client }) });
  const { client } = server;
  for (const name of ['default', 'kube-node-lease'])
    await client.create(resources.namespaces, { metadata: { name } });
  await serveKinds(client, clock, kinds);
  const hypervisor = new SimulatedHypervisor(new SimulatedHost({ clock, random: new SeededRandom(2) }));
  await hypervisor.probe(new AbortController().signal);
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  const host = new SimulatedHostFacts();
  register(manager, {
    host,
    hypervisor,
    containers: () => ({ areWanted: false, containers: { isAvailable: false, reason: 'not here' } }),
    nodeName: own.name,
    version: 'v1.36.0',
  });
  void manager.start();
  try {
    await use({
      ...server,
      clock,
      host,
      until: (claim, name = own.name) =>
        settle({ clock, until: async () => claim(await client.find(nodes, { name })), limitMs: 120_000 }),
      act: (action, body) => act(client, action, body),
    });
  } finally {
    await manager.stop();
    hypervisor.dispose();
    await server.close();
  }
}

async function act(client: Client, action: string, body: object = {}): Promise<string> {
  const answer = await client.send({
    method: 'POST',
    target: `/v1/harvester/nodes/${own.name}?action=${action}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return `${answer.status} ${await answer.text()}`;
}

function isReady(node: NodeObject | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

function renewedAt(lease: NodeLease | undefined): string {
  return lease?.spec?.renewTime ?? '';
}

it('a node is made, heard of by its lease, follows its host, and comes back when it is deleted', async () => {
  await withNode(async ({ client, host, until, clock }) => {
    await until(isReady);
    const place = { namespace: 'kube-node-lease', ...own };
    const first = renewedAt(await client.get(leases, place));
    await settle({ clock, until: async () => renewedAt(await client.get(leases, place)) > first });
    host.change({ cpuCount: 8 });
    await until((node) => node?.status?.capacity?.['cpu'] === '8');
    const { metadata } = await client.get(nodes, own);
    await client.delete(nodes, own);
    await until((node) => isReady(node) && node?.metadata.uid !== metadata.uid);
  });
});

it('at rest a node is written every five minutes only', async () => {
  await withNode(async ({ client, until, clock }) => {
    await until(isReady);
    const versions = new Set<string>();
    const end = clock.now() + 290_000;
    await settle({
      clock,
      limitMs: 300_000,
      until: async () => {
        versions.add((await client.get(nodes, own)).metadata.resourceVersion ?? '');
        return clock.now() >= end;
      },
    });
    assert.equal(versions.size, 1);
  });
});

it('a node that nobody reports for is Unknown', async () => {
  await withNode(async ({ client, until }) => {
    await client.create(nodes, { metadata: { name: 'old' } });
    await until(
      (node) => node?.status?.conditions?.some(({ status }) => status === 'Unknown') === true,
      'old',
    );
  });
});

it('a cordoned node is tainted, and open again', async () => {
  await withNode(async ({ client, until, act: post }) => {
    await until(isReady);
    await client.patch(nodes, own, { type: 'merge', body: { spec: { unschedulable: true } } });
    const tainted = 'node.kubernetes.io/unschedulable';
    await until((node) => node?.spec?.taints?.some(({ key }) => key === tainted) === true);
    assert.equal(await post('uncordon'), '204 ');
    await until((node) => node?.spec?.taints === undefined && node?.spec?.unschedulable === undefined);
    assert.match(await post('uncordon'), /^422 Node node-1 is not cordoned/);
    assert.match(await post('cordon'), /^400 Node node-1 is the last one/);
    assert.match(await post('powerActionPossible'), /^424 /);
    assert.equal(await post('listUnhealthyVM'), '200 []');
  });
});

it('actions are for those who may update the node', async () => {
  await withNode(async ({ until, clientAs }) => {
    await until(isReady);
    const jane = clientAs({ name: 'jane', groups: ['system:authenticated'] });
    assert.match(await act(jane, 'uncordon'), /^403 /);
  });
});

it('maintenance without machines completes, and ends', async () => {
  await withNode(async ({ client, until, act: post }) => {
    await until(isReady);
    const annotations = { 'harvesterhci.io/drain-requested': 'true' };
    await client.patch(nodes, own, { type: 'merge', body: { metadata: { annotations } } });
    const statusOf = (node: NodeObject | undefined): string | undefined =>
      node?.metadata.annotations?.['harvesterhci.io/maintain-status'];
    const isTold = (node: NodeObject | undefined): boolean =>
      node?.status?.conditions?.some(({ type }) => type === 'MaintenanceMode') === true;
    await until(
      (node) => statusOf(node) === 'completed' && node?.spec?.unschedulable === true && isTold(node),
    );
    assert.equal(await post('disableMaintenanceMode'), '204 ');
    await until(
      (node) => statusOf(node) === undefined && node?.spec?.unschedulable !== true && !isTold(node),
    );
  });
});

it('who cordons a node on which machines run is told that they go on', async () => {
  await withNode(async ({ client, until }) => {
    await until(isReady);
    await client.create(resources.virtualMachineInstances, {
      metadata: { namespace: 'default', name: 'a' },
      spec: { domain: { devices: {} } },
      status: { phase: 'Running', nodeName: own.name },
    });
    const answer = await client.send({
      method: 'PATCH',
      target: `/api/v1/nodes/${own.name}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"spec":{"unschedulable":true}}',
    });
    assert.match(String(answer.headers['warning']), /1 virtual machine runs on node node-1 and will go on/);
  });
});
