import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { resources } from '@sheaf/client';
import { type ProgramResult, runProgram } from '../program.ts';
import { findVirtctl } from '../tools.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';

const virtctl = await findVirtctl();
const namespace = 'default';

describe('virtctl and real machines', { skip: 'missing' in virtctl ? virtctl.missing : false }, () => {
  let started: MachineServer | { readonly missing: string };
  const children = new Set<ChildProcessWithoutNullStreams>();
  before(async () => {
    started = await startMachineServer();
    if ('missing' in started) return;
    await started.client.create(resources.virtualMachines, {
      metadata: { namespace, name: 'vm1' },
      spec: {
        runStrategy: 'Manual',
        template: {
          spec: { domain: { memory: { guest: '64Mi' }, devices: {} }, terminationGracePeriodSeconds: 30 },
        },
      },
    });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    if (!('missing' in started)) await started.close();
  });

  /** A test with a server, where there can be one. */
  const check = (name: string, run: (server: MachineServer) => Promise<void>): void => {
    it(name, async (context: TestContext) => {
      if ('missing' in started) context.skip(started.missing);
      else await run(started);
    });
  };
  const environment = (server: MachineServer): NodeJS.ProcessEnv => ({
    ...process.env,
    KUBECONFIG: server.kubeconfig,
    HOME: server.directory,
  });
  const run = (server: MachineServer, ...args: readonly string[]): Promise<ProgramResult> => {
    assert.ok('path' in virtctl);
    return runProgram(virtctl.path, args, { env: environment(server) });
  };
  /** A program that goes on until it is told to end. */
  const begin = (
    server: MachineServer,
    program: string,
    args: readonly string[],
  ): ChildProcessWithoutNullStreams => {
    const child = spawn(program, args, { env: environment(server) });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  const virtctlPath = (): string => {
    assert.ok('path' in virtctl);
    return virtctl.path;
  };

  check('start one, and tell why not', async (server) => {
    assert.deepEqual(await run(server, 'start', 'vm1'), {
      code: 0,
      out: 'VM vm1 was scheduled to start\n',
      err: '',
    });
    await server.reaches('vm1', 'Running');
    const again = await run(server, 'start', 'vm1');
    assert.equal(again.code, 1);
    assert.match(again.err, /VM is already running; nothing is to be done/);
    assert.match((await run(server, 'start', 'gone')).err, /virtualmachines\.kubevirt\.io "gone" not found/);
  });

  check('tell of the server', async (server) => {
    assert.match((await run(server, 'version')).out, /Server Version: version\.Info\{GitVersion:"v1\.8\.0"/);
    // It shows the words of no answer that is not 200.
    assert.match((await run(server, 'guestfs', 'claim')).err, /could not get guestfs image info/);
  });

  check('type into a console, from a terminal, and leave it with ctrl-]', async (server) => {
    const command = `${virtctlPath()} console vm1`;
    const child = begin(server, 'script', ['-qefc', command, '/dev/null']);
    const shown = shownBy(child);
    await shown(/Successfully connected to vm1 console/);
    child.stdin.write('hello');
    await shown(/hello/);
    child.stdin.write('?');
    await shown(/boots 1 ticks \d+/);
    child.stdin.write('\u001d');
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/vm1/console/log`;
    assert.match(await server.client.text(path), /guest ready, boot 1\r?\nhello/);
  });

  check('show the screen, and take a picture of it', async (server) => {
    const child = begin(server, virtctlPath(), ['vnc', 'vm1', '--proxy-only']);
    const { port } = JSON.parse(await lineOf(child)) as { port: number };
    const socket = connect(port, '127.0.0.1');
    assert.equal((await bytesOf(socket, 12)).toString(), 'RFB 003.008\n');
    socket.write('RFB 003.008\n');
    const [count] = await bytesOf(socket, 1);
    assert.ok(count !== undefined && count > 0, 'security types are offered');
    socket.destroy();
    child.kill('SIGTERM');
    const path = join(server.directory, 'screen.png');
    const picture = await run(server, 'vnc', 'screenshot', 'vm1', '-f', path);
    assert.deepEqual([picture.code, picture.err], [0, '']);
    assert.deepEqual(
      [...(await readFile(path)).subarray(0, 8)],
      [0x89, 0x50, 0x4e, 0x47, 0xd, 0xa, 0x1a, 0xa],
    );
  });

  check('pause and unpause a machine and an instance', async (server) => {
    assert.equal((await run(server, 'pause', 'vm', 'vm1')).out, 'VMI vm1 was scheduled to pause\n');
    await server.reaches('vm1', 'Paused');
    assert.match((await run(server, 'pause', 'vmi', 'vm1')).err, /VMI is already paused/);
    assert.equal((await run(server, 'unpause', 'vmi', 'vm1')).out, 'VMI vm1 was scheduled to unpause\n');
    await server.reaches('vm1', 'Running');
    assert.match((await run(server, 'unpause', 'vm', 'vm1')).err, /VMI is not paused/);
  });

  check('reset one, and say what a soft reboot needs', async (server) => {
    const child = begin(server, 'script', ['-qefc', `${virtctlPath()} console vm1`, '/dev/null']);
    const shown = shownBy(child);
    await shown(/Successfully connected/);
    assert.equal((await run(server, 'reset', 'vm1')).code, 0);
    await shown(/guest ready, boot 2/);
    child.stdin.write('\u001d');
    await once(child, 'exit');
    assert.match((await run(server, 'soft-reboot', 'vm1')).err, /no agent connected; start the guest agent/);
  });

  check('say that there is no guest agent', async (server) => {
    const wayOut = /install and start qemu-guest-agent/;
    assert.match((await run(server, 'userlist', 'vm1')).err, wayOut);
    assert.match((await run(server, 'fslist', 'vm1')).err, wayOut);
    // It asks for this answer as it is, and has words of its own for one that is refused.
    assert.match((await run(server, 'guestosinfo', 'vm1')).err, /the server reported a conflict/);
  });

  check('plug a volume in and out', async (server) => {
    await server.client.create(resources.persistentVolumeClaims, {
      metadata: { namespace, name: 'disk-1' },
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        storageClassName: 'harvester-longhorn',
        resources: { requests: { storage: '64Mi' } },
      },
    });
    const isPlugged = async (): Promise<boolean> => {
      const instance = await server.client.get(resources.virtualMachineInstances, { namespace, name: 'vm1' });
      return (
        instance.status?.volumeStatus?.some(({ name, phase }) => name === 'disk-1' && phase === 'Ready') ===
        true
      );
    };
    assert.deepEqual(await run(server, 'addvolume', 'vm1', '--volume-name=disk-1', '--persist'), {
      code: 0,
      out: 'Successfully submitted add volume request to VM vm1 for volume disk-1\n',
      err: '',
    });
    await server.until(isPlugged, 'the volume is plugged in');
    assert.match(
      (await run(server, 'addvolume', 'vm1', '--volume-name=disk-1', '--persist')).err,
      /already exists/,
    );
    assert.equal((await run(server, 'removevolume', 'vm1', '--volume-name=disk-1', '--persist')).code, 0);
    await server.until(async () => !(await isPlugged()), 'the volume is gone');
  });

  check('forward a port', async (server) => {
    const child = begin(server, virtctlPath(), ['port-forward', 'vmi/vm1', '0:22']);
    assert.match(await lineOf(child, child.stderr), /forwarding tcp 127\.0\.0\.1:\d+ to 22/i);
    child.kill('SIGTERM');
    const sender = createSocket('udp4');
    const port = await freeUdpPort();
    const udp = begin(server, virtctlPath(), ['port-forward', 'vmi/vm1', `udp/${port}:53`]);
    const shown = shownBy(udp);
    await shown(/forwarding udp 127\.0\.0\.1:\d+ to 53/);
    // It says so before it listens, and what comes earlier is lost.
    const knocking = setInterval(() => sender.send('is anybody there', port, '127.0.0.1'), 50);
    await shown(/opening new udp tunnel to 53/).finally(() => clearInterval(knocking));
    sender.close();
    udp.kill('SIGTERM');
  });

  check('expand it, and show what it needs', async (server) => {
    const expanded = await run(server, 'expand', '--vm', 'vm1', '-o', 'json');
    assert.equal((JSON.parse(expanded.out) as { kind: string }).kind, 'VirtualMachine');
    const graph = await run(server, 'objectgraph', 'vm1');
    assert.match(graph.out, /"kind": "VirtualMachineInstance"/);
  });

  check('say what one machine cannot do', async (server) => {
    assert.match((await run(server, 'migrate', 'vm1')).err, /there is no other node to migrate to; stop/);
    const dump = ['memory-dump', 'get', 'vm1', '--claim-name=disk-1'];
    assert.match((await run(server, ...dump)).err, /take a snapshot of its disks/);
    assert.match((await run(server, 'usbredir', '1234:5678', 'vm1')).err, /USB Redirection|usbredirect/);
  });

  check('restart and stop it', async (server) => {
    const uid = async (): Promise<string | undefined> =>
      (await server.client.find(resources.virtualMachineInstances, { namespace, name: 'vm1' }))?.metadata.uid;
    const first = await uid();
    assert.equal((await run(server, 'restart', 'vm1')).out, 'VM vm1 was scheduled to restart\n');
    await server.until(async () => ![first, undefined].includes(await uid()), 'there is another instance');
    await server.reaches('vm1', 'Running');
    assert.equal((await run(server, 'stop', 'vm1')).out, 'VM vm1 was scheduled to stop\n');
    await server.reaches('vm1', 'Stopped');
    const console = await run(server, 'console', 'vm1');
    assert.equal(console.code, 1);
    assert.match((await run(server, 'restart', 'vm1')).err, /VM is not running: Halted; start it instead/);
  });
});

/** What a program writes, once it matches. */
function shownBy(child: ChildProcessWithoutNullStreams): (wanted: RegExp) => Promise<void> {
  let text = '';
  let look: () => void = () => undefined;
  const take = (chunk: Buffer): void => {
    text += chunk.toString();
    look();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  child.once('exit', () => look());
  return (wanted) =>
    new Promise((resolve, reject) => {
      look = () => {
        if (wanted.test(text)) resolve();
        else if (child.exitCode !== null) reject(new Error(`it ended without ${String(wanted)}: ${text}`));
      };
      look();
    });
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => void socket.close(resolve));
  return port;
}

async function lineOf(child: ChildProcessWithoutNullStreams, stream = child.stdout): Promise<string> {
  let text = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text += chunk.toString();
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error(`it ended without a line: ${text}`);
}

async function bytesOf(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(count) as Buffer | null;
    if (bytes) return bytes;
    await once(socket, 'readable');
  }
}
