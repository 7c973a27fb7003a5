import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineSpec } from '@sheaf/ports';
import { differences, layoutOf } from './machine-layout.ts';

const spec: MachineSpec = {
  id: 'one',
  title: 'default/one',
  machineType: 'q35',
  cpu: { sockets: 1, cores: 2, threads: 1, model: 'host-model' },
  memory: { bytes: 64 * 1024 * 1024 },
  firmware: { kind: 'efi', isSecureBoot: false, persistentKey: 'one' },
  identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
  disks: [
    { name: 'root', device: 'disk', bus: 'virtio', file: { path: '/a', format: 'qcow2' }, bootOrder: 1 },
  ],
  nics: [{ name: 'default', model: 'virtio', mac: '52:54:00:00:00:01', link: { kind: 'user' } }],
  hasGraphics: true,
  hasSerialConsole: true,
  hasAgentChannel: true,
  hasRandomSource: true,
  hasBalloon: true,
};
const [disk] = spec.disks;
const [nic] = spec.nics;

const changed = (changes: Partial<MachineSpec>): string[] =>
  differences(layoutOf(spec), layoutOf({ ...spec, ...changes }));

describe('the layout of a machine', () => {
  it('is the same under another name, with other files, ports and limits', () => {
    assert.ok(disk && nic);
    const forwards = [{ protocol: 'tcp', guestPort: 80 }] as const;
    assert.deepEqual(
      changed({
        id: 'two',
        title: 'default/two',
        memoryPath: '/memory',
        cpu: { model: 'host-model', threads: 1, cores: 2, sockets: 1 },
        firmware: { kind: 'efi', isSecureBoot: false, persistentKey: 'two' },
        disks: [{ ...disk, file: { path: '/b', format: 'qcow2' }, limits: { operationsPerSecond: 1 } }],
        nics: [{ ...nic, link: { kind: 'user', forwards }, carrier: 'down' }],
        hasTablet: false,
      }),
      [],
    );
  });

  it('tells what a guest would miss', () => {
    assert.ok(disk && nic);
    assert.deepEqual(changed({ cpu: { ...spec.cpu, model: 'EPYC' } }), ['cpu']);
    assert.deepEqual(changed({ memory: { bytes: 128 * 1024 * 1024 } }), ['memory.bytes']);
    assert.deepEqual(changed({ memory: { ...spec.memory, maxBytes: 2 ** 30 } }), ['memory.maxBytes']);
    assert.deepEqual(changed({ firmware: { kind: 'efi', isSecureBoot: true } }), ['firmware']);
    assert.deepEqual(changed({ disks: [{ ...disk, bus: 'scsi' }] }), ['disks']);
    assert.deepEqual(changed({ nics: [{ ...nic, mac: '52:54:00:00:00:02' }] }), ['nics']);
    assert.deepEqual(changed({ tpm: {}, watchdog: { model: 'i6300esb', action: 'reset' } }), [
      'watchdog',
      'tpm',
    ]);
  });
});
