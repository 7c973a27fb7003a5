import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AdmissionRule, type ApiExtensions, allow, deny } from '@sheaf/api';
import type { Setting, VirtualMachine } from '@sheaf/api/virtualization/index';
import { type LogFields, type Logger, StatusError, silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import {
  SeededRandom,
  serveKinds,
  settle,
  startTestServer,
  TestClock,
  testCertificates,
} from '@sheaf/testkit';
import type { Environment } from './pins.ts';
import { extend, installSettings, register } from './register.ts';
import { settingTable } from './setting-table.ts';

const { settings, virtualMachines } = resources;
const kinds = ['settings.harvesterhci.io', 'virtualmachines.kubevirt.io'];
const network = JSON.stringify({ clusterNetwork: 'mgmt', vlan: 100, range: '10.1.0.0/24' });

interface World {
  readonly client: Client;
  readonly warnings: readonly LogFields[];
  install(): Promise<void>;
  /** Runs the controller until something is so. */
  untilKept(claim: () => Promise<boolean>): Promise<void>;
}

interface WorldOptions {
  readonly environment?: Environment;
  readonly rules?: readonly AdmissionRule[];
}

async function withSettings(
  { environment = {}, rules = [] }: WorldOptions,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const clock = new TestClock();
  const warnings: LogFields[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (_, fields = {}) => warnings.push(fields),
    with: () => logger,
  };
  const addRules = (api: ApiExtensions): void => {
    extend(api, { environment });
    for (const rule of rules) api.addAdmission(rule);
  };
  const { client, close } = await startTestServer({ clock, extend: addRules });
  const manager = new Manager({ client, clock, random: new SeededRandom(5), logger });
  let isStarted = false;
  const untilKept = async (claim: () => Promise<boolean>): Promise<void> => {
    if (!isStarted) {
      register(manager, { environment });
      void manager.start();
      isStarted = true;
    }
    await settle({ clock, until: claim });
  };
  const install = (): Promise<void> => installSettings({ client, clock, logger, environment }, 1000);
  try {
    await serveKinds(client, clock, kinds);
    await client.create(resources.namespaces, { metadata: { name: 'default' } });
    await run({ client, warnings, install, untilKept });
  } finally {
    await manager.stop();
    await close();
  }
}

function machine(index: number): VirtualMachine {
  const metadata = { name: `vm-${index}`, namespace: 'default' };
  const template = { spec: { domain: { devices: {} } } };
  return {
    metadata,
    spec: { runStrategy: 'RerunOnFailure', template },
    status: { printableStatus: 'Running' },
  };
}

async function runMachines(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const made = await client.create(virtualMachines, machine(index));
    await client.updateStatus(virtualMachines, { ...made, status: { printableStatus: 'Running' } });
  }
}

function patch(client: Client, name: string, body: Record<string, string>): Promise<Setting> {
  return client.patch(settings, { name }, { type: 'merge', body });
}

async function conditionOf(client: Client, name: string, type = 'configured'): Promise<readonly unknown[]> {
  const { status } = await client.get(settings, { name });
  const found = status?.conditions?.find((condition) => condition.type === type);
  return [found?.status, found?.reason, found?.message];
}

async function refusal(write: Promise<unknown>): Promise<string> {
  try {
    await write;
  } catch (error) {
    if (StatusError.is(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'allowed';
}

/** For every setting with a rule a value that is refused. */
const refusedByAll = Object.fromEntries(
  settingTable
    .filter(({ rule, clusterRule }) => rule ?? clusterRule)
    .map(({ name }) => [`HARVESTER_${name.toUpperCase().replaceAll('-', '_')}`, '{"vlan":"?"']),
);

describe('settings at the start', () => {
  it('are all there, with fifty machines running and every value of the environment refused', () =>
    withSettings({ environment: refusedByAll }, async ({ client, install, warnings }) => {
      await runMachines(client, 50);
      await install();
      const { items } = await client.list(settings);
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        settingTable.map(({ name }) => name).toSorted(),
      );
      assert.deepEqual(
        items.filter(({ value }) => value !== undefined),
        [],
      );
      const [status, reason, message] = await conditionOf(client, 'storage-network');
      assert.deepEqual([status, reason], ['False', 'Refused']);
      assert.match(
        String(message),
        /^the value of the variable HARVESTER_STORAGE_NETWORK is refused: value: it is no valid JSON.*Write a JSON object.*It is tried again by itself\.$/,
      );
      assert.deepEqual(warnings, []);
    }));

  it('are written once', () =>
    withSettings({}, async ({ client, install }) => {
      await install();
      const before = await client.list(settings);
      await install();
      assert.deepEqual(await client.list(settings), before);
    }));

  it('do not end the start when somebody refuses them, and are made once they may be', async () => {
    let isShut = true;
    const rule: AdmissionRule = {
      name: 'somebody',
      targets: [
        { group: 'harvesterhci.io', resource: 'settings' },
        { group: '', resource: 'namespaces' },
      ],
      operations: ['CREATE'],
      validate: (object) =>
        isShut && object?.metadata.name !== 'default'
          ? deny({ reason: 'Forbidden', message: 'not now', wayOut: 'Wait.' })
          : allow(),
    };
    await withSettings({ rules: [rule] }, async ({ client, install, untilKept, warnings }) => {
      await install();
      assert.deepEqual((await client.list(settings)).items, []);
      const told = warnings[0]?.['settings'] as Record<string, string>;
      assert.equal(Object.keys(told).length, settingTable.length + 1);
      assert.match(told['storage-network'] ?? '', /not now\. Wait\./);
      let looks = 0;
      await untilKept(async () => {
        if (looks++ > 3) isShut = false;
        const namespace = await client.find(resources.namespaces, { name: 'harvester-system' });
        const { items } = await client.list(settings);
        return namespace !== undefined && items.length === settingTable.length;
      });
    });
  });

  it('keep a value that was there first, and get their default', () =>
    withSettings({}, async ({ client, install }) => {
      const value = '{"cpu":200,"memory":200,"storage":200}';
      await client.create(settings, { metadata: { name: 'overcommit-config' }, value });
      await install();
      const setting = await client.get(settings, { name: 'overcommit-config' });
      assert.deepEqual(
        [setting.value, setting.default, setting.customized],
        [value, '{"cpu":1000,"memory":150,"storage":100}', true],
      );
    }));

  it('take what the environment says; nobody else changes it then', () =>
    withSettings(
      {
        environment: {
          HARVESTER_NTP_SERVERS: '{"ntpServers":["a.example"]}',
          HARVESTER_UI_PATH_DEFAULT_VALUE: '/x',
        },
      },
      async ({ client, install }) => {
        await install();
        const { value, source } = await client.get(settings, { name: 'ntp-servers' });
        assert.deepEqual([value, source], ['{"ntpServers":["a.example"]}', 'env']);
        assert.equal((await client.get(settings, { name: 'ui-path' })).default, '/x');
        assert.match(
          await refusal(patch(client, 'ntp-servers', { value: '{"ntpServers":["b.example"]}' })),
          /^403: .*set by the environment of the server\. Change or remove the variable HARVESTER_NTP_SERVERS/,
        );
      },
    ));

  it('take a pinned value as soon as nothing speaks against it', () =>
    withSettings(
      { environment: { HARVESTER_STORAGE_NETWORK: network } },
      async ({ client, install, untilKept }) => {
        await runMachines(client, 1);
        await install();
        const [, reason, message] = await conditionOf(client, 'storage-network');
        assert.equal(reason, 'Refused');
        assert.match(String(message), /not stopped: default\/vm-0\. Stop all virtual machines/);
        await client.delete(virtualMachines, { namespace: 'default', name: 'vm-0' });
        await untilKept(
          async () => (await client.get(settings, { name: 'storage-network' })).value === network,
        );
      },
    ));
});

describe('settings', () => {
  it('refuse what they cannot be, with a way out, and stay as they were', () =>
    withSettings({}, async ({ client, install }) => {
      await install();
      assert.equal(
        await refusal(patch(client, 'overcommit-config', { value: '{"cpu":50}' })),
        '422: value: cpu is 50 percent: less would be given out than there is. Set cpu to 100 or more; all of cpu, memory and storage must be given.',
      );
      assert.match(
        await refusal(patch(client, 'max-hotplug-ratio', { default: '99' })),
        /^422: default: 99 is out/,
      );
      const { value } = await client.get(settings, { name: 'overcommit-config' });
      assert.equal(value, undefined);
    }));

  it('take certificates', () =>
    withSettings({}, async ({ client, install }) => {
      await install();
      const { authority, serving } = await testCertificates();
      const set = (name: string, value: string): Promise<string> => refusal(patch(client, name, { value }));
      assert.equal(await set('additional-ca', authority.certificatePem), 'allowed');
      const publicCertificate = serving.certificatePem;
      const privateKey = serving.privateKeyPem;
      const whole = JSON.stringify({ ca: authority.certificatePem, publicCertificate, privateKey });
      assert.equal(await set('ssl-certificates', whole), 'allowed');
      const bad = JSON.stringify({ publicCertificate, privateKey: 'x' });
      assert.match(await set('ssl-certificates', bad), /privateKey is no private key\. Paste/);
    }));

  it('let the storage network alone while machines run', () =>
    withSettings({}, async ({ client, install }) => {
      await install();
      await runMachines(client, 1);
      assert.match(
        await refusal(patch(client, 'storage-network', { value: network })),
        /^422: .*not stopped: default\/vm-0\. Stop all virtual machines/,
      );
      const status = { conditions: [{ type: 'x', status: 'True' }] };
      const setting = await client.get(settings, { name: 'storage-network' });
      assert.equal(await refusal(client.update(settings, { ...setting, status })), 'allowed');
    }));

  it('say whether a value has been acted on', () =>
    withSettings({}, async ({ client, install, untilKept }) => {
      await install();
      await patch(client, 'ui-source', { value: 'bundled' });
      await untilKept(async () => (await conditionOf(client, 'ui-source'))[1] === 'KeptForCompatibility');
      await patch(client, 'server-version', { value: 'v1.9.0' });
      await untilKept(async () => (await conditionOf(client, 'server-version'))[0] === 'True');
      await patch(client, 'server-version', { value: '' });
      await untilKept(async () => (await conditionOf(client, 'server-version'))[0] === 'False');
    }));

  it('come back with their default when they are deleted, and some cannot be', () =>
    withSettings({}, async ({ client, install, untilKept }) => {
      await install();
      await patch(client, 'ui-source', { value: 'bundled' });
      await client.delete(settings, { name: 'ui-source' });
      await untilKept(async () => (await client.find(settings, { name: 'ui-source' }))?.default === 'auto');
      assert.equal((await client.get(settings, { name: 'ui-source' })).value, undefined);
      for (const name of [
        'storage-network',
        'rwx-network',
        'vm-migration-network',
        'cluster-pod-security-standard',
      ])
        assert.match(
          await refusal(client.delete(settings, { name })),
          /^405: .*cannot be deleted\. Reset it instead: kubectl patch/,
        );
    }));

  it('are refused as their schema says when they have no form', () =>
    withSettings({}, async ({ client }) => {
      const formless = { metadata: { name: 'ui-source' }, value: 7 } as unknown as Setting;
      assert.match(
        await refusal(client.create(settings, formless)),
        /^422: .*value: Invalid value: "integer"/,
      );
    }));

  it('keep what they do not know', () =>
    withSettings({}, async ({ client }) => {
      const made = await client.create(settings, { metadata: { name: 'mine' }, value: 'x' });
      assert.equal(made.value, 'x');
    }));
});
