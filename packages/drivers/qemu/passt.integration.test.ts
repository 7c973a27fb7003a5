import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../system/system-clock.ts';
import { probePodNetwork } from './passt-probe.ts';
import { currentBootId } from './process-identity.ts';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';
import { findProgram, runProgram } from './run-program.ts';

const root = await mkdtemp(join(tmpdir(), 'passt-'));
after(() => rm(root, { recursive: true }));
// The clock of the product holds up no process.
const awake = setInterval(() => undefined, 1000);
after(() => clearInterval(awake));
const emulator = findProgram('qemu-system-x86_64') ?? 'absent';
const probe = { directory: root, bootId: currentBootId(), clock: systemClock };
const answer = await probePodNetwork({ ...probe, emulator: { path: emulator, version: '7.2.0' } }, true);
const skip = answer.passt === undefined ? answer.capability.reason : (qemuIsMissing ?? false);
const { signal } = new AbortController();
/** QEMU, and its pod network: passt, or one of QEMU's with those that make a network for it and end it. */
const machineProcesses = answer.passt?.kind === 'apart' ? 5 : 2;

it('says how a pod network that reaches the outside can be had', async () => {
  const old = await probePodNetwork({ ...probe, emulator: { path: emulator, version: '7.1.0' } }, true);
  assert.equal(old.capability.isAvailable, false);
  assert.ok(old.capability.wayOut);
  assert.equal(answer.capability.isAvailable, answer.passt !== undefined);
});

describe('the pod network of passt', { skip }, () => {
  it('ends with its machine, however that ends, and is found again by the next life', async () => {
    const world = await QemuWorld.make();
    try {
      let hypervisor = world.open();
      for (const id of ['ended', 'killed'])
        await hypervisor.start(
          {
            id,
            title: id,
            machineType: 'q35',
            cpu: { sockets: 1, cores: 1, threads: 1 },
            memory: { bytes: 4 * 1024 * 1024 },
            firmware: world.guest,
            identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
            disks: [],
            nics: [{ name: 'pod', model: 'virtio', mac: '52:54:00:00:00:01', link: { kind: 'user' } }],
            hasGraphics: false,
            hasSerialConsole: true,
            hasAgentChannel: false,
            hasRandomSource: false,
            hasBalloon: false,
          },
          signal,
        );
      assert.equal(world.processes('ended').length, machineProcesses);
      hypervisor.dispose();
      hypervisor = world.open();
      const seen = await hypervisor.find('killed', signal);
      assert.deepEqual(seen?.devices, [{ name: 'pod', kind: 'nic', isLeaving: false }]);
      assert.equal(world.processes('killed').length, machineProcesses);
      for (const protocol of ['tcp', 'udp'] as const) {
        const ready = { protocol, guestPort: protocol === 'tcp' ? 22 : 123 };
        (await hypervisor.openPort('killed', ready, signal)).dispose();
        const undeclared = hypervisor.openPort('killed', { protocol, guestPort: 4711 }, signal);
        await assert.rejects(undeclared, new RegExp(`4711/${protocol} .* name the port`));
      }
      await hypervisor.end('ended', signal);
      assert.equal(world.processes('ended').length, 0);
      hypervisor.dispose();
      await world.kill(seen?.processId ?? 0);
      while (world.processes('killed').length > 0) await world.pass(5);
    } finally {
      await world.dispose();
    }
  });
});

const canIsolate =
  process.getuid?.() === 0 && findProgram('ip') !== undefined && findProgram('unshare') !== undefined;
const isolation = canIsolate ? skip : 'a network of its own needs root, ip and unshare';

describe('a guest on the pod network', { skip: isolation }, () => {
  it('reaches the outside and the resolver of the host, and nothing else on its loopback', {
    timeout: 60_000,
  }, async () => {
    const script = fileURLToPath(new URL('pod-network-reach.fixture.ts', import.meta.url));
    const resolvers = join(root, 'resolv.conf');
    await writeFile(resolvers, 'nameserver 127.0.0.53\n');
    const inside = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';
    const look = [process.execPath, script, root, JSON.stringify(answer.passt)];
    const { status, output, errors } = await runProgram(
      'unshare',
      ['--net', '--mount', 'sh', '-c', inside, 'sh', resolvers, ...look],
      30_000,
    );
    assert.equal(status, 0, errors);
    assert.deepEqual(JSON.parse(output), {
      address: '10.0.2.2',
      gateway: '10.0.2.1',
      resolver: '10.0.2.3',
      outside: 'answered',
      host: 'answered',
      name: 'an address',
      visitors: 0,
      greeted: 25,
      words: '220 a service that speaks first',
      echo: 'what time is it',
    });
  });
});
