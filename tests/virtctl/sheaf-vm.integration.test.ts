import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resources } from '@sheaf/client';
import { parse } from 'yaml';
import { type ProgramResult, runProgram } from '../program.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';

const program = fileURLToPath(new URL('../../apps/sheaf/main.ts', import.meta.url));
const place = { namespace: 'default', name: 'vm1' };

describe('sheaf vm and real machines', () => {
  let started: MachineServer | { readonly missing: string };
  before(async () => {
    started = await startMachineServer();
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
  const sheaf = (server: MachineServer, ...args: readonly string[]): Promise<ProgramResult> =>
    runProgram(process.execPath, [program, ...args], {
      env: { KUBECONFIG: server.kubeconfig, SHEAF_DATA_DIR: undefined },
    });

  check('prints what it would make, and makes it', async (server) => {
    const choice = ['vm', 'create', 'vm1', '--memory', '64Mi', '--disk', '64Mi'];
    const rehearsed = await sheaf(server, ...choice, '--dry-run', '-o', 'yaml');
    assert.deepEqual([rehearsed.code, rehearsed.err], [0, '']);
    assert.deepEqual((parse(rehearsed.out) as { metadata: object }).metadata, {
      ...place,
      annotations: (parse(rehearsed.out) as { metadata: { annotations: object } }).metadata.annotations,
    });
    assert.equal(await server.client.find(resources.virtualMachines, place), undefined);
    const made = await sheaf(server, ...choice);
    assert.equal(made.code, 0);
    assert.match(made.err, /vm1: Running\n$/);
    const list = await sheaf(server, 'vm', 'ls');
    assert.match(list.out, /^NAME +STATUS +CPU .*\nvm1 +Running +1 +64Mi /);
  });

  check('joins a terminal with the console, and leaves it with ctrl-]', async (server) => {
    const command = `${process.execPath} ${program} vm console vm1`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
    });
    let shown = '';
    const until = async (wanted: RegExp): Promise<void> => {
      while (!wanted.test(shown)) {
        const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
        shown += chunk.toString();
      }
    };
    await until(/Connected to vm1/);
    child.stdin.write('hello?');
    await until(/helloboots 1 ticks \d+/);
    child.stdin.write('\u001d');
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
  });

  check('shows the log and the screen', async (server) => {
    assert.match((await sheaf(server, 'vm', 'log', 'vm1')).out, /^guest ready, boot 1\nhello/);
    assert.equal((await sheaf(server, 'vm', 'log', 'vm1', '--grep', 'ready')).out, 'guest ready, boot 1\n');
    assert.match(
      (await sheaf(server, 'vm', 'log', 'vm1', '--grep', '(')).err,
      /--grep: Invalid regular expression/,
    );
    const path = join(server.directory, 'screen.png');
    assert.equal((await sheaf(server, 'vm', 'screenshot', 'vm1', path)).code, 0);
    assert.deepEqual([...(await readFile(path)).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  });

  check('follows the log', async (server) => {
    const child = spawn(process.execPath, [program, 'vm', 'log', 'vm1', '-f', '--grep', 'boot 2'], {
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = once(child.stdout, 'data') as Promise<[Buffer]>;
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm1/reset`;
    await server.client.send({ method: 'PUT', target: path });
    assert.equal((await line)[0].toString(), 'guest ready, boot 2\n');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  check('restarts, stops and starts', async (server) => {
    const before = await server.client.get(resources.virtualMachineInstances, place);
    const again = await sheaf(server, 'vm', 'restart', 'vm1');
    assert.deepEqual([again.code, again.out], [0, '']);
    const after = await server.client.get(resources.virtualMachineInstances, place);
    assert.notEqual(after.metadata.uid, before.metadata.uid);
    assert.match((await sheaf(server, 'vm', 'stop', 'vm1')).err, /vm1: Stopped\n$/);
    const refused = await sheaf(server, 'vm', 'stop', 'vm1');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /VM is not running; nothing is to be stopped/);
    assert.match((await sheaf(server, 'vm', 'start', 'vm1')).err, /vm1: Running\n$/);
  });

  check('names the way out', async (server) => {
    await sheaf(server, 'vm', 'stop', 'vm1', '--force');
    const table: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['vm', 'console', 'vm1'], 1, /vm1 is not running\. Start it: sheaf vm start vm1 -n default/],
      [['vm', 'ssh', 'gone'], 1, /there is no virtual machine gone in default\. See sheaf vm ls -A/],
      [['vm', 'create', 'x', '--image', 'none'], 1, /there is no image none in default\. See sheaf image ls/],
      [
        ['vm', 'create', 'x', '--ssh-key', 'none'],
        1,
        /neither a file nor a key pair of default\. Give the path/,
      ],
      [['vm', 'create', 'x', '--cpu', 'many'], 2, /--cpu many is no number of processors/],
      [['vm', 'start'], 2, /expected 1 argument\(s\), not 0/],
      [['vm', 'dance'], 2, /there is no command "dance"/],
      [['image', 'add', 'x'], 2, /--url is missing; a file is sent with sheaf image upload/],
    ];
    for (const [args, code, words] of table) {
      const answer = await sheaf(server, ...args);
      assert.equal(answer.code, code, args.join(' '));
      assert.match(answer.err, words);
    }
  });

  check('deletes a machine, with its disks only if that is said', async (server) => {
    const claim = { namespace: 'default', name: 'vm1-disk-0' };
    const first = await sheaf(server, 'vm', 'delete', 'vm1');
    assert.equal(first.code, 0);
    assert.match(first.err, /^kept: vm1-disk-0; delete it with kubectl delete pvc vm1-disk-0 -n default\n/);
    assert.notEqual(await server.client.find(resources.persistentVolumeClaims, claim), undefined);
    const again = ['vm', 'create', 'vm1', '--memory', '64Mi', '--disk', '64Mi', '--no-wait'];
    assert.equal((await sheaf(server, ...again)).code, 0);
    assert.equal((await sheaf(server, 'vm', 'delete', 'vm1', '--all-disks')).code, 0);
    await server.until(
      async () => (await server.client.find(resources.persistentVolumeClaims, claim)) === undefined,
      'the disk is gone with its machine',
    );
  });
});
