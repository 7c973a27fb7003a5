import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { resources } from '@sheaf/client';
import { testCertificates } from '@sheaf/testkit';
import { runProgram } from '../program.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';

const namespace = 'default';
const hasCurl = await runProgram('curl', ['--version']).then(
  ({ code }) => code === 0,
  () => false,
);

describe("curl and Harvester's actions", { skip: hasCurl ? false : 'curl is not installed' }, () => {
  let started: MachineServer | { readonly missing: string };
  before(async () => {
    started = await startMachineServer();
    if ('missing' in started) return;
    const { authority, admin } = await testCertificates();
    const files = {
      'ca.pem': authority.certificatePem,
      'user.pem': admin.certificatePem,
      'user.key': admin.privateKeyPem,
    };
    for (const [name, text] of Object.entries(files))
      await writeFile(join(started.directory, name), text, { mode: 0o600 });
    await started.client.create(resources.virtualMachines, {
      metadata: { namespace, name: 'vm1' },
      spec: {
        runStrategy: 'Halted',
        template: {
          spec: { domain: { memory: { guest: '64Mi' }, devices: {} }, terminationGracePeriodSeconds: 30 },
        },
      },
    });
  });
  after(async () => {
    if (!('missing' in started)) await started.close();
  });

  const check = (name: string, run: (server: MachineServer) => Promise<void>): void => {
    it(name, async (context: TestContext) => {
      if ('missing' in started) context.skip(started.missing);
      else await run(started);
    });
  };

  /** The code and the body. */
  async function curl(
    { directory, url }: MachineServer,
    method: string,
    path: string,
    ...further: readonly string[]
  ): Promise<readonly [number, string]> {
    const keys = ['--cacert', 'ca.pem', '--cert', 'user.pem', '--key', 'user.key'];
    const target = `${url}/v1/harvester/kubevirt.io.virtualmachines/${namespace}/${path}`;
    const args = ['-sS', '-X', method, ...keys, '-w', '\n%{http_code}', ...further, target];
    const { out, err } = await runProgram('curl', args, { cwd: directory });
    assert.equal(err, '');
    const end = out.lastIndexOf('\n');
    return [Number(out.slice(end + 1)), out.slice(0, end)];
  }
  const act = (server: MachineServer, action: string, body?: object): Promise<readonly [number, string]> =>
    curl(server, 'POST', `vm1?action=${action}`, ...(body ? ['--json', JSON.stringify(body)] : []));

  check('start, pause, unpause, restart and stop a machine', async (server) => {
    assert.deepEqual(await act(server, 'start'), [204, '']);
    await server.reaches('vm1', 'Running');
    const again = await act(server, 'start');
    assert.equal(again[0], 409);
    assert.match(
      again[1],
      /^Conflict 409: start virtual machine default\/vm1 failed, .*VM is already running/,
    );
    assert.deepEqual(await act(server, 'pause'), [204, '']);
    await server.reaches('vm1', 'Paused');
    assert.deepEqual(await act(server, 'unpause'), [204, '']);
    await server.reaches('vm1', 'Running');
    const instances = resources.virtualMachineInstances;
    const first = await server.client.get(instances, { namespace, name: 'vm1' });
    assert.deepEqual(await act(server, 'restart'), [204, '']);
    await server.until(async () => {
      const next = await server.client.find(instances, { namespace, name: 'vm1' });
      return next !== undefined && next.metadata.uid !== first.metadata.uid;
    }, 'there is another instance');
    await server.reaches('vm1', 'Running');
    assert.deepEqual(await act(server, 'stop'), [204, '']);
    await server.reaches('vm1', 'Stopped');
    const { spec } = await server.client.get(resources.virtualMachines, { namespace, name: 'vm1' });
    assert.equal(spec.runStrategy, 'Halted');
  });

  check('end one at once whose guest does not listen', async (server) => {
    assert.deepEqual(await act(server, 'start'), [204, '']);
    await server.reaches('vm1', 'Running');
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/vm1/console`;
    const console = await server.client.connect(path);
    await console.write(new TextEncoder().encode('D'));
    let text = '';
    for await (const bytes of console.readable) {
      text += Buffer.from(bytes).toString();
      if (text.includes('deaf')) break;
    }
    console.dispose();
    assert.deepEqual(await act(server, 'stop'), [204, '']);
    await server.reaches('vm1', 'Stopping');
    assert.deepEqual(await act(server, 'forceStop'), [204, '']);
    await server.until(
      async () =>
        (await server.client.find(resources.virtualMachineInstances, { namespace, name: 'vm1' })) ===
        undefined,
      'the instance is gone',
    );
    await server.reaches('vm1', 'Stopped');
  });

  check('refuse what cannot be done, in words that name the way out', async (server) => {
    const table: readonly (readonly [string, object, number, RegExp])[] = [
      ['migrate', {}, 404, /virtualmachineinstances.* not found/],
      ['addVolume', {}, 422, /^InvalidBodyContent 422: Parameter `diskName` is required; give it as a text$/],
      ['explode', {}, 403, /^ActionNotAvailable 403: .*use one of start, /],
    ];
    for (const [action, body, code, words] of table) {
      const answer = await act(server, action, body);
      assert.equal(answer[0], code, `${action}: ${answer[1]}`);
      assert.match(answer[1], words);
    }
    assert.equal((await curl(server, 'POST', 'gone?action=start'))[0], 404);
  });

  check('plug a volume in, and remove the machine with it', async (server) => {
    const claims = resources.persistentVolumeClaims;
    await server.client.create(claims, {
      metadata: { namespace, name: 'disk-1' },
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        storageClassName: 'harvester-longhorn',
        resources: { requests: { storage: '64Mi' } },
      },
    });
    await server.until(async () => {
      const claim = await server.client.get(claims, { namespace, name: 'disk-1' });
      return claim.status?.phase === 'Bound';
    }, 'the claim is bound');
    assert.deepEqual(await act(server, 'addVolume', { diskName: 'data', volumeSourceName: 'disk-1' }), [
      204,
      '',
    ]);
    const [code] = await curl(server, 'DELETE', 'vm1?removedDisks=data');
    assert.ok(code === 200 || code === 204, String(code));
    await server.until(
      async () => (await server.client.find(claims, { namespace, name: 'disk-1' })) === undefined,
      'the claim is gone with its machine',
    );
  });
});
