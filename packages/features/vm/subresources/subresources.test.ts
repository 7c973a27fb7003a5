import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { type RequestWorld, withCondition, withRequests } from '../request-world.fixture.ts';
import type { VirtualMachineInstance } from '../virtual-machine.ts';

const place = 'namespaces/default/virtualmachineinstances/a';
const machinePlace = 'namespaces/default/virtualmachines/a';
const streamPath = `/apis/subresources.kubevirt.io/v1/${place}`;

function withDevices(devices: object): (instance: VirtualMachineInstance) => VirtualMachineInstance {
  return (instance) => ({
    ...instance,
    spec: { ...instance.spec, domain: { ...instance.spec.domain, devices } },
  });
}

/** What a stream is refused with. */
async function streamRefusal({ client }: RequestWorld, word: string, path = streamPath): Promise<string> {
  try {
    const stream = await client.connect(`${path}/${word}`);
    stream.dispose();
    return 'opened';
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error));
    return `${String(error.code)} ${error.message}`;
  }
}

async function readSome(stream: { readable: AsyncIterable<Uint8Array> }, until: RegExp): Promise<string> {
  let text = '';
  for await (const bytes of stream.readable) {
    text += new TextDecoder().decode(bytes);
    if (until.test(text)) break;
  }
  return text;
}

describe('consoles', () => {
  it('are refused with the codes that clients of KubeVirt wait or give up on', async () => {
    await withRequests(async (world) => {
      assert.match(await streamRefusal(world, 'console'), /^404 /);
      await world.instance('Scheduling');
      assert.match(await streamRefusal(world, 'console'), /^400 VMI is not running; start the machine$/);
      assert.match(await streamRefusal(world, 'vnc'), /^400 VMI is not running/);
    });
    await withRequests(async (world) => {
      await world.instance('Failed');
      assert.match(await streamRefusal(world, 'console'), /^409 .*VMI is in failed status/);
    });
    await withRequests(async (world) => {
      await world.instance(
        'Running',
        withDevices({ autoattachSerialConsole: false, autoattachGraphicsDevice: false }),
      );
      assert.match(await streamRefusal(world, 'console'), /^400 No serial consoles are present; remove/);
      assert.match(await streamRefusal(world, 'vnc'), /^400 No graphics devices are present; remove/);
      assert.equal((await world.ask('GET', `${place}/vnc/screenshot`))[0], 400);
    });
  });

  it('show the same to several viewers, and keep what was printed', async () => {
    await withRequests(async (world) => {
      await world.instance('Running');
      const [one, two] = [
        await world.client.connect(`${streamPath}/console`),
        await world.client.connect(`${streamPath}/console`),
      ];
      await one.write(new TextEncoder().encode('hello'));
      assert.match(await readSome(one, /hello/), /hello/);
      assert.match(await readSome(two, /hello/), /hello/);
      one.dispose();
      two.dispose();
      assert.match((await world.ask('GET', `${place}/console/log`))[1], /guest ready, boot 1\nhello/);
      assert.deepEqual(await world.ask('GET', `${place}/console/log?tailBytes=4`), [200, 'ello']);
      const [code, words] = await world.ask('GET', `${place}/console/log?tailBytes=-1`);
      assert.equal(code, 400);
      assert.match(words, /give a whole number up to/);
    });
  });

  it('give a picture of the screen', async () => {
    await withRequests(async (world) => {
      await world.instance('Running');
      const [code, picture] = await world.ask('GET', `${place}/vnc/screenshot?moveCursor=false`);
      assert.equal(code, 200);
      assert.match(picture, /^.PNG/);
    });
  });
});

describe('port forwarding', () => {
  it('carries bytes to a port of the guest, of an instance and of its machine', async () => {
    await withRequests(async (world) => {
      await world.machine();
      await world.instance('Running');
      const ways = [
        `${place}/portforward/22/tcp`,
        `${place}/portforward/53/udp`,
        `${machinePlace}/portforward/22`,
      ];
      for (const path of ways) {
        const stream = await world.client.connect(`/apis/subresources.kubevirt.io/v1/${path}`);
        stream.dispose();
      }
    });
  });

  it('is refused where there is nothing to connect to', async () => {
    await withRequests(async (world) => {
      await world.machine();
      const ofMachine = `/apis/subresources.kubevirt.io/v1/${machinePlace}`;
      assert.match(
        await streamRefusal(world, 'portforward/22', ofMachine),
        /^409 .*VMI is not started; start/,
      );
      await world.instance('Scheduled');
      assert.match(
        await streamRefusal(world, 'portforward/22/tcp'),
        /^400 .*phase is Scheduled instead of Running/,
      );
      assert.match(await streamRefusal(world, 'portforward/0/tcp'), /^400 "0" is no port/);
      assert.match(
        await streamRefusal(world, 'portforward/22/sctp'),
        /^400 the protocol "sctp" is unknown: use tcp or udp/,
      );
    });
    await withRequests(async (world) => {
      await world.instance('Running', withCondition('Paused'));
      assert.match(await streamRefusal(world, 'portforward/22'), /^409 .*VMI is paused; unpause it first/);
    });
  });
});

const answers: Readonly<Record<string, unknown>> = {
  'guest-info': {
    version: '8.2.0',
    supported_commands: ['guest-info', 'guest-get-users', 'guest-get-osinfo', 'guest-fsfreeze-status'].map(
      (name) => ({ name, enabled: true }),
    ),
  },
  'guest-get-users': [{ user: 'debian', 'login-time': 17.5 }, 'nonsense'],
  'guest-get-osinfo': { id: 'debian', 'pretty-name': 'Debian 13' },
  'guest-fsfreeze-status': 'thawed',
  'guest-get-fsinfo': [
    {
      name: 'vda1',
      mountpoint: '/',
      type: 'ext4',
      'used-bytes': 5,
      'total-bytes': 9,
      disk: [{ 'bus-type': 'virtio' }],
    },
  ],
};

describe('the guest agent', () => {
  it('is asked only where it listens', async () => {
    await withRequests(async (world) => {
      await world.instance('Running');
      for (const word of ['guestosinfo', 'userlist', 'filesystemlist']) {
        const [code, words] = await world.ask('GET', `${place}/${word}`);
        assert.equal(code, 409, word);
        assert.match(words, /VMI does not have guest agent connected; install and start qemu-guest-agent/);
      }
      assert.equal((await world.ask('PUT', `${place}/freeze`, { unfreezeTimeout: '1m' }))[0], 409);
    });
  });

  it('tells of the system, of users and of file systems', async () => {
    await withRequests(async (world) => {
      const { metadata } = await world.instance('Running', withCondition('AgentConnected'));
      world.host.agents.set(metadata.uid ?? '', ({ execute }) => answers[execute]);
      const read = async (word: string): Promise<JsonObject> =>
        JSON.parse((await world.ask('GET', `${place}/${word}`))[1]) as JsonObject;
      assert.deepEqual((await read('userlist'))['items'], [{ userName: 'debian', loginTime: 17.5 }]);
      assert.deepEqual((await read('filesystemlist'))['items'], [
        {
          diskName: 'vda1',
          mountPoint: '/',
          fileSystemType: 'ext4',
          usedBytes: 5,
          totalBytes: 9,
          disk: [{ busType: 'virtio' }],
        },
      ]);
      const { kind, guestAgentVersion, os, userList, fsInfo, fsFreezeStatus } = await read('guestosinfo');
      assert.deepEqual(
        { kind, guestAgentVersion, os, userList, fsInfo, fsFreezeStatus },
        {
          kind: 'VirtualMachineInstanceGuestAgentInfo',
          guestAgentVersion: '8.2.0',
          os: { id: 'debian', prettyName: 'Debian 13' },
          userList: [{ userName: 'debian', loginTime: 17.5 }],
          // It has not said that it knows the command.
          fsInfo: { disks: [] },
          fsFreezeStatus: undefined,
        },
      );
    });
  });

  it('freezes for a time at most', async () => {
    await withRequests(async (world) => {
      const { metadata } = await world.instance('Running', withCondition('AgentConnected'));
      const asked: string[] = [];
      world.host.agents.set(metadata.uid ?? '', ({ execute }) => void asked.push(execute));
      const [code, words] = await world.ask('PUT', `${place}/freeze`, {});
      assert.equal(code, 400);
      assert.match(words, /Unfreeze timeout in freeze request is not set; send/);
      assert.equal((await world.ask('PUT', `${place}/freeze`, { unfreezeTimeout: '1m30s' }))[0], 202);
      assert.equal((await world.ask('PUT', `${place}/unfreeze`))[0], 202);
      world.clock.advance(90_000);
      assert.equal((await world.ask('PUT', `${place}/freeze`, { unfreezeTimeout: 2e9 }))[0], 202);
      world.clock.advance(1999);
      assert.equal(asked.length, 3);
      world.clock.advance(1);
      while (asked.length < 4) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(asked, [
        'guest-fsfreeze-freeze',
        'guest-fsfreeze-thaw',
        'guest-fsfreeze-freeze',
        'guest-fsfreeze-thaw',
      ]);
    });
  });
});

describe('what is asked about machines', () => {
  it('expands machines, those that are there and those that are not', async () => {
    await withRequests(async (world) => {
      const { metadata } = await world.machine();
      const [code, text] = await world.ask('GET', `${machinePlace}/expand-spec`);
      assert.equal(code, 200);
      assert.equal((JSON.parse(text) as KubeObject).metadata.uid, metadata.uid);
      const expand = (body?: object): Promise<readonly [number, string]> =>
        world.ask('PUT', 'namespaces/default/expand-vm-spec', body);
      const spec = { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } };
      assert.deepEqual(JSON.parse((await expand({ metadata: { name: 'b' }, spec }))[1]), {
        metadata: { name: 'b', namespace: 'default' },
        spec,
      });
      assert.match((await expand())[1], /empty request body; send a VirtualMachine/);
      assert.match((await expand({ spec: {} }))[1], /Object is not a valid VirtualMachine/);
      assert.match(
        (await expand({ metadata: { namespace: 'x' }, spec }))[1],
        /VM namespace must be empty or default/,
      );
      const typed = { spec: { ...spec, instancetype: { name: 'u1.small' } } };
      assert.deepEqual((await expand(typed))[0], 400);
      assert.match(
        (await expand(typed))[1],
        /There is no VirtualMachineClusterInstancetype u1\.small; create it/,
      );
    });
  });

  it('tells what a machine needs', async () => {
    await withRequests(async (world) => {
      await world.machine(({ metadata, spec }) => ({
        metadata,
        spec: {
          ...spec,
          template: {
            spec: {
              ...spec.template.spec,
              volumes: [
                { name: 'root', persistentVolumeClaim: { claimName: 'disk-1' } },
                { name: 'init', cloudInitNoCloud: { secretRef: { name: 'seed' } } },
              ],
              networks: [{ name: 'lan', multus: { networkName: 'lans/one' } }],
            },
          },
        },
      }));
      const node = (kind: string, apiGroup: string, name: string, type: string): JsonObject => ({
        objectReference: { apiGroup, kind, name, namespace: 'default' },
        labels: { 'kubevirt.io/dependency-type': type },
      });
      const [, text] = await world.ask('GET', `${machinePlace}/objectgraph`);
      assert.deepEqual(JSON.parse(text), {
        ...node('VirtualMachine', 'kubevirt.io', 'a', 'compute'),
        children: [
          node('PersistentVolumeClaim', '', 'disk-1', 'storage'),
          node('Secret', '', 'seed', 'config'),
          {
            objectReference: {
              apiGroup: 'k8s.cni.cncf.io',
              kind: 'NetworkAttachmentDefinition',
              name: 'one',
              namespace: 'lans',
            },
            labels: { 'kubevirt.io/dependency-type': 'network' },
            optional: true,
          },
        ],
      });
    });
  });
});

describe('what one machine cannot do', () => {
  it('is refused with a reason and a way out, once it is known that the machine is there', async () => {
    await withRequests(async (world) => {
      assert.equal((await world.ask('PUT', `${machinePlace}/migrate`))[0], 404);
      assert.equal((await world.ask('PUT', `${machinePlace}/memorydump`))[0], 404);
      await world.machine();
      await world.instance('Running');
      const table: readonly (readonly [string, string, number, RegExp])[] = [
        ['PUT', `${machinePlace}/migrate`, 409, /there is no other node to migrate to; stop/],
        ['PUT', `${machinePlace}/memorydump`, 409, /take a snapshot of its disks/],
        ['PUT', `${machinePlace}/removememorydump`, 409, /take a snapshot/],
        ['PUT', `${place}/backup`, 409, /create a VirtualMachineBackup/],
        ['PUT', `${place}/redefine-checkpoint`, 409, /ChangedBlockTracking is not enabled/],
        ['GET', `${place}/sev/fetchcertchain`, 403, /without launchSecurity/],
        ['PUT', `${place}/sev/setupsession`, 403, /without launchSecurity/],
        ['GET', 'guestfs', 404, /virtctl addvolume/],
      ];
      for (const [method, path, code, words] of table) {
        const answer = await world.ask(method, path);
        assert.equal(answer[0], code, path);
        assert.match(answer[1], words);
      }
      assert.match(await streamRefusal(world, 'usbredir'), /^409 .*Not configured with USB Redirection/);
      assert.match(await streamRefusal(world, 'vsock'), /^400 VSOCK is not attached; reach/);
      assert.equal((await world.ask('PUT', `${place}/evacuate/cancel`))[0], 200);
    });
  });

  it('does not keep the group from telling of itself, in both versions', async () => {
    await withRequests(async ({ ask, client }) => {
      assert.match((await ask('GET', 'version'))[1], /"gitVersion":"v1\.8\.0"/);
      assert.equal((await ask('GET', 'healthz'))[0], 200);
      const { preferredVersion } = await client.raw('/apis/subresources.kubevirt.io');
      assert.deepEqual(preferredVersion, { groupVersion: 'subresources.kubevirt.io/v1', version: 'v1' });
      const old = await client.raw('/apis/subresources.kubevirt.io/v1alpha3/version');
      assert.equal(old['gitVersion'], 'v1.8.0');
    });
  });
});
