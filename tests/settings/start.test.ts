import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import {
  Client,
  httpTransport,
  type ResourceRef,
  readKubeconfig,
  resources,
  type Transport,
} from '@sheaf/client';
import { type SheafProcess, startSheaf } from '../sheaf-process.ts';

const { settings, virtualMachines } = resources;
const admission = 'admissionregistration.k8s.io';
const policies = clusterRef('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const bindings = clusterRef('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
const name = 'no-new-settings';
/** Wrong for every setting that has a rule. */
const refused = {
  HARVESTER_STORAGE_NETWORK: 'x',
  HARVESTER_OVERCOMMIT_CONFIG: 'x',
  HARVESTER_NTP_SERVERS: 'x',
  HARVESTER_MAX_HOTPLUG_RATIO: 'x',
};

function clusterRef(kind: string, plural: string): ResourceRef {
  return { group: admission, version: 'v1', kind, plural, namespaced: false };
}

/** Somebody's policy: no settings may be made. */
async function shut(client: Client): Promise<void> {
  const rule = {
    apiGroups: ['harvesterhci.io'],
    apiVersions: ['*'],
    resources: ['settings'],
    operations: ['CREATE'],
  };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'false', message: 'closed' }],
  };
  await client.create(policies, { metadata: { name }, spec });
  await client.create(bindings, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
}

async function isDeleted(client: Client, setting: KubeObject): Promise<boolean> {
  try {
    await client.delete(settings, { name: setting.metadata.name ?? '' });
    return true;
  } catch (error) {
    if (StatusError.is(error, 'MethodNotAllowed')) return false;
    throw error;
  }
}

/** The names of those that cannot be deleted. */
async function deleteSettings(client: Client): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const setting of (await client.list(settings)).items)
    if (!(await isDeleted(client, setting))) kept.push(setting.metadata.name ?? '');
  return kept;
}

async function makeMachines(client: Client, count: number): Promise<void> {
  const limits = { cpu: 1, memory: '64Mi' };
  const template = { spec: { domain: { devices: {}, resources: { limits } } } };
  for (let index = 0; index < count; index++) {
    const metadata = { namespace: 'default', name: `vm-${index}` };
    await client.create(virtualMachines, { metadata, spec: { runStrategy: 'Halted', template } });
  }
}

interface Awaited {
  readonly names: readonly string[];
  /** From when on they may come. */
  readonly resourceVersion: string;
}

async function untilAll(client: Client, { names, resourceVersion }: Awaited): Promise<void> {
  const missing = new Set(names);
  for (const known of await namesOf(client)) missing.delete(known);
  for await (const { object } of client.watch(settings, { resourceVersion })) {
    missing.delete(object.metadata.name ?? '');
    if (missing.size === 0) return;
  }
}

async function namesOf(client: Client): Promise<readonly string[]> {
  return (await client.list(settings)).items.map(({ metadata }) => metadata.name ?? '');
}

describe('a start at which every setting is refused', () => {
  let directory: string;
  let sheaf: SheafProcess;
  let transport: Transport;
  let client: Client;

  async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    sheaf = await startSheaf({ directory, env });
    transport = httpTransport(readKubeconfig(await readFile(sheaf.kubeconfig, 'utf8')));
    client = new Client({ transport, userAgent: 'test' });
  }

  async function stop(): Promise<void> {
    transport.close();
    await sheaf.stop();
  }

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sheaf-settings-'));
    await start();
  });
  after(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('is a start all the same, and the settings come once they may', async () => {
    const all = await namesOf(client);
    await makeMachines(client, 50);
    await shut(client);
    const kept = await deleteSettings(client);
    await stop();

    await start(refused);
    assert.deepEqual(await namesOf(client), kept);
    assert.equal(await client.text('/readyz'), 'ok');
    assert.match(sheaf.log(), /settings could not be written; this is tried again.*closed/);
    const stored = await client.get(settings, { name: 'storage-network' });
    assert.deepEqual([stored.value, stored.status?.conditions?.at(-1)?.reason], [undefined, 'Refused']);

    const { resourceVersion } = await client.list(settings);
    await client.delete(bindings, { name });
    await untilAll(client, { names: all, resourceVersion });
    assert.deepEqual(await namesOf(client), all);
  });
});
