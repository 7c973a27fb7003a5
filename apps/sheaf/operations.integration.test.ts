import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, httpTransport, readKubeconfig, resources } from '@sheaf/client';
import { runProgram } from '../../tests/program.ts';
import { startSheaf } from '../../tests/sheaf-process.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

function sheaf(...args: string[]): ReturnType<typeof runProgram> {
  return runProgram(process.execPath, [main, ...args]);
}

async function clientOf(kubeconfig: string): Promise<{ client: Client; close(): void }> {
  const transport = httpTransport(readKubeconfig(await readFile(kubeconfig, 'utf8')));
  return { client: new Client({ transport, userAgent: 'test' }), close: () => transport.close() };
}

describe('sheaf status, why, backup, restore, rotate-key', { timeout: 120_000 }, async () => {
  const parent = await mkdtemp(join(tmpdir(), 'sheaf-operations-'));
  after(() => rm(parent, { recursive: true, force: true }));
  const copy = join(parent, 'copy.db');

  it('a server whose log cannot be written serves on', async () => {
    const server = await startSheaf({
      directory: join(parent, 'untold'),
      further: ['--without-containers', '--log-level', 'debug'],
      through: ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'],
    });
    const { client, close } = await clientOf(server.kubeconfig);
    try {
      await client.create(resources.configMaps, { metadata: { name: 'told', namespace: 'default' } });
      assert.equal(
        (await client.get(resources.configMaps, { namespace: 'default', name: 'told' })).metadata.name,
        'told',
      );
    } finally {
      close();
      await server.stop();
    }
  });

  it('a running server tells how it is, is copied, and leaves an audit log', async () => {
    const server = await startSheaf({
      directory: join(parent, 'one'),
      further: ['--without-containers'],
    });
    const { client, close } = await clientOf(server.kubeconfig);
    try {
      const secret = {
        metadata: { name: 's', namespace: 'default' },
        stringData: { password: 'correct horse' },
      };
      await client.create(resources.secrets, secret);
      await client.create(resources.pods, {
        metadata: { name: 'p', namespace: 'default' },
        spec: { containers: [{ name: 'c', image: 'nginx' }] },
      });
      const status = await sheaf('status', '--data-dir', server.directory);
      assert.equal(status.code, 0, status.out + status.err);
      assert.match(status.out, /^Sheaf \d.*: ready\n/);
      assert.match(status.out, /Pod\/p -n default: is not on a node yet/);
      const chain = await sheaf('why', 'pod/p', '-o', 'json', '--data-dir', server.directory);
      const links = JSON.parse(chain.out) as { object: string; nature: string }[];
      assert.deepEqual(links.at(-1)?.nature, 'fault');
      assert.match(
        await client.text('/metrics'),
        /apiserver_request_total\{verb="POST".*resource="pods".*code="201"\} 1\n/,
      );
      assert.match(await client.text('/readyz?verbose'), /\[\+\]store ok\n[^]*readyz check passed/);
      const backup = await sheaf('backup', copy, '--data-dir', server.directory);
      assert.equal(backup.code, 0, backup.err);
      assert.equal((await stat(copy)).mode & 0o777, 0o600);
      assert.equal((await stat(`${copy}.keys`)).mode & 0o777, 0o600);
      const refused = await sheaf('restore', copy, '--data-dir', server.directory);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /in use by another process/);
    } finally {
      close();
      await server.stop();
    }
    assert.doesNotMatch(await readFile(copy, 'latin1'), /correct horse|Y29ycmVjdCBob3JzZQ/);
    assert.match(
      await readFile(join(server.directory, 'audit', 'audit.log'), 'utf8'),
      /"verb":"create".*"resource":"secrets","namespace":"default","name":"s"/,
    );
  });

  it('the copy becomes a server on a new machine, also after a change of keys', async () => {
    const directory = join(parent, 'two');
    const restored = await sheaf('restore', copy, '--data-dir', directory);
    assert.equal(restored.code, 0, restored.err);
    assert.equal((await sheaf('rotate-key', '--data-dir', directory)).code, 0);
    const server = await startSheaf({ directory });
    const { client, close } = await clientOf(server.kubeconfig);
    try {
      const read = await client.get(resources.secrets, { namespace: 'default', name: 's' });
      assert.deepEqual(read['data'], { password: 'Y29ycmVjdCBob3JzZQ==' });
      await client.create(resources.namespaces, { metadata: { name: 'later' } });
    } finally {
      close();
      await server.stop();
    }
    const offline = await sheaf(
      'backup',
      join(parent, 'offline.db'),
      '--without-keys',
      '--data-dir',
      directory,
    );
    assert.equal(offline.code, 0, offline.err);
    const none = await sheaf('status', '--data-dir', directory);
    assert.equal(none.code, 1);
    assert.match(none.err, /ECONNREFUSED[^]*sheaf up/);
  });

  it('what a restore has replaced can be restored', async () => {
    const directory = join(parent, 'two');
    assert.equal((await sheaf('restore', copy, '--data-dir', directory)).code, 0);
    const undone = await sheaf('restore', join(directory, 'store.db.replaced'), '--data-dir', directory);
    assert.equal(undone.code, 0, undone.err);
    const server = await startSheaf({ directory });
    const { client, close } = await clientOf(server.kubeconfig);
    try {
      assert.ok(await client.find(resources.namespaces, { name: 'later' }));
    } finally {
      close();
      await server.stop();
    }
  });

  it('a policy decides what the audit log tells; one that cannot be meant is refused before anything is written', async () => {
    const policy = join(parent, 'policy.yaml');
    const directory = join(parent, 'policed');
    const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
    const up = ['up', '--data-dir', directory, '--listen', '127.0.0.1:0', '--audit-policy', policy];
    await writeFile(policy, `${head}rules: [{levle: None}]`);
    const refused = await sheaf(...up);
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /policy\.yaml cannot be used: rules\[0\]\.levle[^]*start without --audit-policy/,
    );
    await assert.rejects(stat(directory));
    await writeFile(policy, `${head}rules: [{level: Metadata, nonResourceURLs: [/version]}]`);
    const server = await startSheaf({ directory, further: ['--audit-policy', policy] });
    const { client, close } = await clientOf(server.kubeconfig);
    await client.create(resources.namespaces, { metadata: { name: 'unseen' } });
    await client.text('/version');
    close();
    await server.stop();
    const lines = (await readFile(join(directory, 'audit', 'audit.log'), 'utf8')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { requestURI: string }).requestURI),
      ['/version'],
    );
  });

  it('a wrong use is told with the right one', async () => {
    const wrong = await sheaf('why', 'zork', '--data-dir', parent);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /expected KIND\/NAME[^]*Usage: sheaf why/);
    const elsewhere = await sheaf('status', '--data-dir', join(parent, 'nowhere'));
    assert.equal(elsewhere.code, 1);
    assert.match(elsewhere.err, /--data-dir/);
  });
});
