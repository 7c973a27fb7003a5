import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VirtualMachineTemplateVersion } from '@sheaf/api/virtualization/index';
import { type JsonObject, StatusError, silentLogger } from '@sheaf/base';
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
import { extend, register } from './register.ts';

const { secrets, virtualMachineImages: images } = resources;
const { virtualMachineTemplates: templates, virtualMachineTemplateVersions: versions } = resources;
const kinds = [
  'virtualmachinetemplates',
  'virtualmachinetemplateversions',
  'virtualmachineimages',
  'keypairs',
];
const namespace = 'default';
const limits = { cpu: 1, memory: '1Gi' };
/** As the controllers of a whole control plane write. */
const controllers = {
  name: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
};

interface World extends TestServer {
  settled(claim: () => Promise<boolean>): Promise<void>;
  /** Ends the controllers and starts them anew. */
  restart(): Promise<void>;
}

async function withTemplates(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend: (api) => extend(api) });
  const { client, clientAs } = server;
  let manager: Manager | undefined;
  const restart = async (): Promise<void> => {
    await manager?.stop();
    const random = new SeededRandom(5);
    manager = new Manager({ client: clientAs(controllers), clock, random, logger: silentLogger });
    register(manager);
    void manager.start();
  };
  const settled = (claim: () => Promise<boolean>): Promise<void> => settle({ clock, until: claim });
  try {
    await serveKinds(
      client,
      clock,
      kinds.map((plural) => `${plural}.harvesterhci.io`),
    );
    await client.create(resources.namespaces, { metadata: { name: namespace } });
    await client.create(templates, { metadata: { namespace, name: 'small' } });
    await restart();
    await run({ ...server, settled, restart });
  } finally {
    await manager?.stop();
    await server.close();
  }
}

function versionOf(name: string, spec: JsonObject = {}): VirtualMachineTemplateVersion {
  return {
    metadata: { namespace, name },
    spec: { templateId: 'default/small', ...spec },
  };
}

function machine(resourceLimits: JsonObject): JsonObject {
  return {
    spec: {
      runStrategy: 'Halted',
      template: { spec: { domain: { devices: {}, resources: { limits: resourceLimits } } } },
    },
  };
}

async function statusOf(client: Client): Promise<unknown> {
  const { spec, status } = await client.get(templates, { namespace, name: 'small' });
  return [spec?.defaultVersionId, status?.defaultVersion, status?.latestVersion];
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

async function isSame(actual: Promise<unknown>, expected: unknown): Promise<boolean> {
  return JSON.stringify(await actual) === JSON.stringify(expected);
}

describe('versions of templates', () => {
  it('are numbered, the first is the default until another is chosen', () =>
    withTemplates(async ({ client, settled }) => {
      await client.create(versions, versionOf('one', { vm: machine(limits) }));
      await settled(() => isSame(statusOf(client), ['default/one', 1, 1]));
      const made = await client.create(versions, { ...versionOf(''), metadata: { namespace } });
      assert.match(made.metadata.name ?? '', /^small-[a-z0-9]{5}$/);
      await settled(() => isSame(statusOf(client), ['default/one', 1, 2]));
      const body = { spec: { defaultVersionId: `default/${made.metadata.name}` } };
      await client.patch(templates, { namespace, name: 'small' }, { type: 'merge', body });
      await settled(() => isSame(statusOf(client), [body.spec.defaultVersionId, 2, 2]));
      const { metadata } = await client.get(versions, { namespace, name: 'one' });
      assert.deepEqual(
        [metadata.labels?.['template.harvesterhci.io/templateID'], metadata.ownerReferences?.[0]?.controller],
        ['small', true],
      );
    }));

  it('wait for their images', () =>
    withTemplates(async ({ client, settled }) => {
      const spec = { displayName: 'debian', sourceType: 'upload' } as const;
      const image = await client.create(images, { metadata: { namespace, name: 'debian' }, spec });
      const claims = [
        { metadata: { name: 'd', annotations: { 'harvesterhci.io/imageId': 'default/debian' } } },
      ];
      const annotations = { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify(claims) };
      await client.create(versions, versionOf('one', { vm: { metadata: { annotations } } }));
      const ready = async (): Promise<string | undefined> => {
        const { status } = await client.get(versions, { namespace, name: 'one' });
        return status?.conditions?.find(({ type }) => type === 'ready')?.status;
      };
      await settled(async () => (await ready()) === 'False');
      const conditions = [{ type: 'Imported', status: 'True' }];
      await client.update(images, { ...image, status: { ...image.status, conditions } });
      await settled(async () => (await ready()) === 'True');
    }));

  it('are refused with a way out when something is missing', () =>
    withTemplates(async ({ client }) => {
      const problems: readonly (readonly [object: VirtualMachineTemplateVersion, problem: RegExp])[] = [
        [
          versionOf('one', { templateId: '' }),
          /422: spec\.templateId: the template is missing\. Write NAMESPACE\/NAME/,
        ],
        [
          versionOf('one', { templateId: 'default/other' }),
          /there is no template default\/other\. Make the template/,
        ],
        [
          versionOf('one', { templateId: 'b/small' }),
          /metadata\.namespace: the template is in the namespace b\./,
        ],
        [
          versionOf('one', { keyPairIds: ['default/k'] }),
          /spec\.keyPairIds\[0\]: there is no key pair default\/k\./,
        ],
        [versionOf('one', { vm: machine({ cpu: 1 }) }), /limits of memory are missing\. Give both/],
        [versionOf('one', { vm: machine({}) }), /limits of cpu and memory are missing\. Give both/],
        [
          versionOf('one', {
            vm: { metadata: { annotations: { 'harvesterhci.io/volumeClaimTemplates': '{' } } },
          }),
          /no JSON list of PersistentVolumeClaims\. Correct it/,
        ],
      ];
      const formless = { metadata: { namespace, name: 'one' } } as VirtualMachineTemplateVersion;
      assert.match(await refusal(client.create(versions, formless)), /^422: .*spec: Required/);
      assert.match(
        await refusal(client.create(versions, versionOf('', { templateId: 7 }))),
        /^422: .*spec\.templateId/,
      );
      for (const [object, problem] of problems)
        assert.match(await refusal(client.create(versions, object)), problem);
    }));

  it('do not change, and the default one is not deleted', () =>
    withTemplates(async ({ client, settled }) => {
      await client.create(versions, versionOf('one'));
      await client.create(versions, versionOf('two'));
      await settled(() => isSame(statusOf(client), ['default/one', 1, 2]));
      const body = { spec: { description: 'new' } };
      const change = client.patch(versions, { namespace, name: 'two' }, { type: 'merge', body });
      assert.match(await refusal(change), /^405: .*do not change.*Make another version/);
      const remove = (name: string): Promise<string> => refusal(client.delete(versions, { namespace, name }));
      assert.match(
        await remove('one'),
        /^400: .*the default version of the template default\/small\. Make another/,
      );
      assert.equal(await remove('two'), 'allowed');
      await client.delete(templates, { namespace, name: 'small' });
      assert.equal(await remove('one'), 'allowed');
    }));
});

describe('templates to begin with', () => {
  const inPublic = 'harvester-public';

  it('are made at the start, with what their guests do first; every user may look', () =>
    withTemplates(async ({ client, settled }) => {
      await settled(async () => (await client.list(secrets, { namespace: inPublic })).items.length === 2);
      const listed = async (): Promise<unknown> => {
        const { items } = await client.list(templates, { namespace: inPublic });
        return items.map(({ metadata, spec, status }) => [
          metadata.name,
          spec?.defaultVersionId,
          status?.latestVersion,
        ]);
      };
      const expected = ['iso-image', 'raw-image', 'windows-iso-image', 'windows-raw-image'];
      await settled(() =>
        isSame(
          listed(),
          expected.map((name) => [`${name}-base-template`, `${inPublic}/${name}-base-version`, 1]),
        ),
      );
      const secret = await client.get(secrets, { namespace: inPublic, name: 'raw-image-template-userdata' });
      assert.equal(secret.metadata.ownerReferences?.[0]?.name, 'raw-image-base-version');
      const { userdata = '' } = secret['data'] as Record<string, string>;
      assert.match(Buffer.from(userdata, 'base64').toString(), /^#cloud-config\n[^]*qemu-guest-agent/);
      const binding = await client.get(resources.roleBindings, { namespace: inPublic, name: inPublic });
      assert.deepEqual(binding['roleRef'], {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'view',
      });
    }));

  it('stay as people leave them until the next start; a deleted one is made then', () =>
    withTemplates(async ({ client, settled, restart }) => {
      const raw = { namespace: inPublic, name: 'raw-image-base-template' };
      const iso = { namespace: inPublic, name: 'iso-image-base-template' };
      await settled(async () => (await client.list(secrets, { namespace: inPublic })).items.length === 2);
      const body = { spec: { description: 'ours' } };
      await client.patch(templates, iso, { type: 'merge', body });
      await client.delete(templates, raw);
      await settled(async () => (await client.find(templates, raw)) === undefined);
      await restart();
      await settled(async () => (await client.find(templates, raw)) !== undefined);
      assert.equal((await client.get(templates, iso)).spec?.description, 'ours');
    }));
});
