import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineObservation, MachineSpec } from '@sheaf/ports';
import { readGuestInterfaces, readGuestOs } from './guest-report.ts';
import { conditionsOf, disk, nic, plan, spec, up } from './instance-plan.fixture.ts';
import type { GrowthObstacles } from './node-room.ts';

describe('a running machine', () => {
  const stepFor = (change: Partial<MachineSpec>, observation: Partial<MachineObservation> = {}): unknown =>
    plan({
      status: { phase: 'Running' },
      observation: { ...up, ...observation },
      facts: { preparation: { state: 'ready', spec: { ...spec, ...change }, warnings: [] } },
    }).step;
  const second = { ...disk, name: 'data', file: { path: '/v/data', format: 'raw' } } as const;
  const drive = { name: 'cd', device: 'cdrom', bus: 'sata' } as const;
  const withDrive = {
    devices: [...up.devices, { name: 'cd', kind: 'disk', path: '/v/old.iso', isLeaving: false }],
  } as const;

  it('gets and loses devices one by one', () => {
    assert.deepEqual(stepFor({ disks: [disk, second] }), { action: 'attach-disk', disk: second });
    assert.deepEqual(stepFor({ disks: [disk] }, withDrive), { action: 'detach-disk', name: 'cd' });
    assert.deepEqual(stepFor({ disks: [disk, drive] }, withDrive), {
      action: 'change-medium',
      name: 'cd',
      file: undefined,
    });
    assert.deepEqual(stepFor({ nics: [nic, { ...nic, name: 'b' }] }), {
      action: 'attach-nic',
      nic: { ...nic, name: 'b' },
    });
    assert.deepEqual(stepFor({ nics: [] }), { action: 'detach-nic', name: 'default' });
  });

  it('gets more processors and memory, never less', () => {
    assert.deepEqual(stepFor({ cpu: { ...spec.cpu, sockets: 3 } }), { action: 'set-sockets', sockets: 3 });
    assert.deepEqual(stepFor({ memory: { bytes: 2 ** 31 } }), { action: 'set-memory', bytes: 2 ** 31 });
    assert.deepEqual(stepFor({ cpu: { ...spec.cpu, sockets: 1 }, memory: { bytes: 2 ** 29 } }), {
      action: 'none',
    });
  });

  it('grows in what there is room for, and says what it waits for', () => {
    const lacking = (text: string) => ({ reason: 'Unschedulable', text, nature: 'transient' }) as const;
    const grown: MachineSpec = { ...spec, cpu: { ...spec.cpu, sockets: 3 }, memory: { bytes: 2 ** 31 } };
    const facts = { preparation: { state: 'ready', spec: grown, warnings: [] } } as const;
    const grow = (growth: GrowthObstacles): readonly unknown[] => {
      const { step, recheckMs, status } = plan({
        status: { phase: 'Running' },
        observation: up,
        facts: { ...facts, growth },
      });
      const told = status.conditions?.filter(({ type }) => type.startsWith('Hot'));
      return [
        step.action,
        recheckMs,
        told?.map(({ type, status: value, message }) => `${type} ${value} ${message}`),
      ];
    };
    const again = 'tried again by itself';
    assert.deepEqual(
      [
        grow({}),
        grow({ cpu: lacking('no cpu') }),
        grow({ cpu: lacking('no cpu'), memory: lacking('no memory') }),
      ],
      [
        ['set-sockets', undefined, []],
        ['set-memory', undefined, [`HotVCPUChange True no cpu; ${again}`]],
        ['none', 10_000, [`HotVCPUChange True no cpu; ${again}`, `HotMemoryChange True no memory; ${again}`]],
      ],
    );
  });

  it('is asked once to let go of a device', () => {
    const leaving = { devices: [...up.devices, { name: 'cd', kind: 'disk', isLeaving: true }] } as const;
    assert.deepEqual(stepFor({}, leaving), { action: 'none' });
  });

  it('shows what its guest says, and no more than fits', () => {
    const guest = {
      os: readGuestOs({ id: 'debian', 'pretty-name': 'Debian', version: 'x'.repeat(1000), machine: 3 }),
      interfaces: readGuestInterfaces([
        { name: 'lo', 'hardware-address': '00:00:00:00:00:00' },
        {
          name: 'eth0',
          'hardware-address': '52:54:00:00:00:01',
          'ip-addresses': [
            { 'ip-address': '10.0.2.15' },
            { 'ip-address': 'fe80::1' },
            { 'ip-address': '<b>' },
          ],
        },
        null,
      ]),
    };
    const { status } = plan({ status: { phase: 'Running' }, observation: up, facts: { guest } });
    assert.deepEqual(JSON.parse(JSON.stringify(status.interfaces)), [
      {
        name: 'default',
        mac: '52:54:00:00:00:01',
        ipAddress: '10.0.2.15',
        ipAddresses: ['10.0.2.15'],
        interfaceName: 'eth0',
        infoSource: 'domain, guest-agent',
        linkState: 'up',
      },
    ]);
    assert.deepEqual(JSON.parse(JSON.stringify(status.guestOSInfo)), {
      id: 'debian',
      prettyName: 'Debian',
      version: 'x'.repeat(256),
    });
    assert.deepEqual(status.memory, { guestAtBoot: '1Gi', guestCurrent: '1Gi', guestRequested: '1Gi' });
  });

  it('that is paused or does not answer says so, and keeps its phase', () => {
    const paused = plan({ status: { phase: 'Running' }, observation: { ...up, state: 'paused' } });
    assert.deepEqual([paused.status.phase, paused.step.action], ['Running', 'none']);
    assert.ok(conditionsOf(paused).includes('Paused True PausedByUser'));
    const stalled = plan({ status: paused.status, observation: { ...up, state: 'unresponsive' } });
    assert.deepEqual(
      conditionsOf(stalled).filter((text) => !text.startsWith('Live') && !text.startsWith('Agent')),
      ['Ready False Unresponsive'],
    );
  });
});
