import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import type { MachineDisk, MachineSpec } from '@sheaf/ports';
import { tapName } from '../device-names.ts';
import { commandLine, environmentOf } from './command-line.ts';

const mebibyte = 1024 * 1024;

const small: MachineSpec = {
  id: 'a1',
  title: 'default/small',
  machineType: 'q35',
  cpu: { sockets: 1, cores: 2, threads: 1 },
  memory: { bytes: 32 * mebibyte },
  firmware: { kind: 'bios' },
  identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
  disks: [],
  nics: [],
  hasGraphics: false,
  hasSerialConsole: false,
  hasAgentChannel: false,
  hasRandomSource: false,
  hasBalloon: false,
};

function argumentsOf(changes: Partial<MachineSpec>, accelerator: 'kvm' | 'tcg' = 'tcg'): string[] {
  return commandLine({ ...small, ...changes }, { accelerator });
}

/** The values of an option, in order; JSON as objects. */
function valuesOf(args: readonly string[], option: string): unknown[] {
  return args.flatMap((arg, index) => {
    if (arg !== option) return [];
    const value = args[index + 1] ?? '';
    return [value.startsWith('{') ? (JSON.parse(value) as JsonObject) : value];
  });
}

function devices(changes: Partial<MachineSpec>): JsonObject[] {
  const found = valuesOf(argumentsOf(changes), '-device') as JsonObject[];
  return found.filter(({ driver }) => driver !== 'pcie-root-port');
}

function diskDevices(
  disks: readonly MachineDisk[],
  machineType: MachineSpec['machineType'] = 'q35',
): unknown {
  return devices({ disks, machineType }).filter(({ id }) => typeof id === 'string' && id.startsWith('disk-'));
}

const file = { path: '/disks/a,b.qcow2', format: 'qcow2' } as const;

describe('the command line of a machine', () => {
  it('makes a machine that stands, keeps its end, and is reached by sockets of its directory', () => {
    const ports = Array.from({ length: 4 }, (_, index) => [
      '-device',
      JSON.stringify({
        driver: 'pcie-root-port',
        id: `port${index}`,
        bus: 'pcie.0',
        chassis: index + 1,
        addr: `0x10.0x${index}`,
        ...(index === 0 && { multifunction: true }),
      }),
    ]);
    assert.deepEqual(argumentsOf({}), [
      ...['-name', 'guest=default/small,debug-threads=on'],
      ...['-machine', 'q35,vmport=off'],
      ...['-accel', 'tcg,tb-size=4'],
      ...['-cpu', 'max', '-smp', '2,sockets=1,cores=2,threads=1,maxcpus=2'],
      ...['-m', 'size=32M'],
      ...['-uuid', small.identity.uuid, '-smbios', `type=1,uuid=${small.identity.uuid}`],
      ...['-nodefaults', '-no-user-config', '-S'],
      ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny'],
      ...['-action', 'shutdown=pause,panic=pause,reboot=reset'],
      ...['-rtc', 'base=utc'],
      ...['-chardev', 'socket,id=control,path=control.sock,server=on,wait=off'],
      ...['-mon', 'chardev=control,mode=control'],
      ...['-chardev', 'socket,id=debug,path=debug.sock,server=on,wait=off'],
      ...['-mon', 'chardev=debug,mode=control'],
      ...ports.flat(),
      ...['-display', 'none'],
      ...['-device', '{"driver":"virtio-scsi-pci","id":"scsi"}'],
      ...['-device', '{"driver":"pvpanic"}'],
    ]);
  });

  it('bounds the cache of translated code by the memory of the guest', () => {
    const cacheOf = (bytes: number): unknown => valuesOf(argumentsOf({ memory: { bytes } }), '-accel')[0];
    assert.deepEqual(
      [32, 64, 512, 513].map((size) => cacheOf(size * mebibyte)),
      ['tcg,tb-size=4', 'tcg,tb-size=64', 'tcg,tb-size=64', 'tcg,tb-size=256'],
    );
    assert.deepEqual(valuesOf(argumentsOf({}, 'kvm'), '-accel'), ['kvm']);
  });

  it('gives the best processor where the host is asked for, and named ones by name', () => {
    const modelOf = (model: string | undefined, accelerator: 'kvm' | 'tcg'): unknown =>
      valuesOf(argumentsOf({ cpu: { ...small.cpu, ...(model && { model }) } }, accelerator), '-cpu')[0];
    assert.deepEqual(
      [modelOf(undefined, 'kvm'), modelOf('host-passthrough', 'kvm'), modelOf('host-model', 'tcg')],
      ['host', 'host', 'max'],
    );
    assert.equal(modelOf('Haswell', 'tcg'), 'Haswell');
    const features = [
      { name: 'avx', policy: 'require' },
      { name: 'vmx', policy: 'disable' },
    ] as const;
    const args = argumentsOf({ cpu: { ...small.cpu, model: 'qemu64', features } });
    assert.deepEqual(valuesOf(args, '-cpu'), ['qemu64,avx=on,vmx=off']);
  });

  it('makes room for processors and memory only where it is asked for', () => {
    const args = argumentsOf({
      cpu: { sockets: 1, cores: 2, threads: 2, maxSockets: 4 },
      memory: { bytes: 512 * mebibyte, maxBytes: 2048 * mebibyte },
    });
    assert.deepEqual(valuesOf(args, '-smp'), ['4,sockets=4,cores=2,threads=2,maxcpus=16']);
    assert.deepEqual(valuesOf(args, '-m'), ['size=512M,slots=16,maxmem=2048M']);
    const equal = argumentsOf({ memory: { bytes: 512 * mebibyte, maxBytes: 512 * mebibyte } });
    assert.deepEqual(valuesOf(equal, '-m'), ['size=512M']);
  });

  it('puts disks on their buses, in the order of their boot', () => {
    const disks: MachineDisk[] = [
      {
        name: 'root',
        device: 'disk',
        bus: 'virtio',
        file,
        bootOrder: 1,
        serial: 'one',
        cache: 'writethrough',
      },
      { name: 'data', device: 'disk', bus: 'scsi', file, isShareable: true, logicalBlockBytes: 4096 },
      { name: 'seed', device: 'cdrom', bus: 'sata' },
      { name: 'more', device: 'disk', bus: 'sata', file },
    ];
    const summary = (diskDevices(disks) as JsonObject[]).map(({ driver, id, bus, bootindex }) => [
      driver,
      id,
      bus,
      bootindex,
    ]);
    assert.deepEqual(summary, [
      ['virtio-blk-pci', 'disk-root', 'port0', 1],
      ['scsi-hd', 'disk-data', 'scsi.0', undefined],
      ['ide-cd', 'disk-seed', 'ide.0', undefined],
      ['ide-hd', 'disk-more', 'ide.1', undefined],
    ]);
    const onPc = (diskDevices(disks, 'pc') as JsonObject[]).map(({ bus }) => bus);
    assert.deepEqual(onPc, [undefined, 'scsi.0', 'sata.0', 'sata.1']);
  });

  it('opens files with a lock of the kernel, except those that several machines share', () => {
    const locking = (changes: Partial<MachineDisk>): unknown => {
      const disk: MachineDisk = { name: 'root', device: 'disk', bus: 'scsi', file, ...changes };
      const [node] = valuesOf(argumentsOf({ disks: [disk] }), '-blockdev') as JsonObject[];
      return { ...(node?.['file'] as JsonObject), isReadOnly: node?.['read-only'] };
    };
    const cache = { direct: false, 'no-flush': false };
    const plain = { driver: 'file', filename: file.path, 'read-only': false, aio: 'threads', cache };
    assert.deepEqual(locking({}), { ...plain, locking: 'on', discard: 'ignore', isReadOnly: false });
    assert.deepEqual(locking({ isShareable: true, discards: true, cache: 'none', io: 'native' }), {
      ...plain,
      aio: 'native',
      cache: { ...cache, direct: true },
      locking: 'off',
      discard: 'unmap',
      isReadOnly: false,
    });
    assert.deepEqual(locking({ device: 'cdrom', file: { path: '/dev/sr0', format: 'raw' } }), {
      ...plain,
      driver: 'host_device',
      filename: '/dev/sr0',
      'read-only': true,
      locking: 'on',
      discard: 'ignore',
      isReadOnly: true,
    });
  });

  it('keeps guests of the pod network from the loopback of the host', () => {
    const args = argumentsOf({
      nics: [
        {
          name: 'pod',
          model: 'virtio',
          mac: '52:54:00:00:00:01',
          link: { kind: 'user', forwards: [{ protocol: 'tcp', guestPort: 22 }], cidr: '10.0.2.0/24' },
        },
        {
          name: 'lan',
          model: 'e1000',
          mac: '52:54:00:00:00:02',
          link: { kind: 'bridge', bridge: 'br0' },
        },
      ],
    });
    assert.deepEqual(valuesOf(args, '-netdev'), [
      {
        type: 'user',
        id: 'net-pod',
        restrict: true,
        net: '10.0.2.0/24',
        host: '10.0.2.1',
        dhcpstart: '10.0.2.2',
        dns: '10.0.2.3',
        hostfwd: [{ str: 'tcp:127.0.0.1:0-:22' }],
      },
      { type: 'tap', id: 'net-lan', ifname: tapName('a1', 'lan'), script: 'no', downscript: 'no' },
    ]);
  });

  it('escapes what people write', () => {
    const args = argumentsOf({
      title: 'a,b/c',
      identity: { uuid: small.identity.uuid, serial: '1,2', assetTag: 'x,y' },
    });
    assert.deepEqual(valuesOf(args, '-name'), ['guest=a,,b/c,debug-threads=on']);
    assert.deepEqual(valuesOf(args, '-smbios'), [
      `type=1,uuid=${small.identity.uuid},serial=1,,2`,
      'type=3,asset=x,,y',
    ]);
  });

  it('pauses where the watchdog is to power off, because that is how the cause is kept', () => {
    const actionOf = (action: 'poweroff' | 'reset' | 'shutdown'): unknown =>
      valuesOf(argumentsOf({ watchdog: { model: 'i6300esb', action } }), '-action')[1];
    assert.deepEqual(
      [actionOf('poweroff'), actionOf('reset'), actionOf('shutdown')],
      ['watchdog=pause', 'watchdog=reset', 'watchdog=shutdown'],
    );
  });

  it('boots EFI from a shared firmware and variables of its own', () => {
    const spec: MachineSpec = { ...small, firmware: { kind: 'efi', isSecureBoot: true } };
    const efi = { codePath: '/code.fd', variablesPath: '/variables.fd' };
    const args = commandLine(spec, { accelerator: 'tcg', efi });
    assert.deepEqual(valuesOf(args, '-machine'), [
      'q35,smm=on,pflash0=efi-code,pflash1=efi-variables,vmport=off',
    ]);
    const nodes = (valuesOf(args, '-blockdev') as JsonObject[]).map((node) => [
      node['node-name'],
      node['read-only'],
    ]);
    assert.deepEqual(nodes, [
      ['efi-code', true],
      ['efi-variables', false],
    ]);
    assert.deepEqual(valuesOf(args, '-global'), ['driver=cfi.pflash01,property=secure,value=on']);
  });

  it('gives a microvm only what it has a bus for', () => {
    const drivers = devices({
      machineType: 'microvm',
      disks: [{ name: 'root', device: 'disk', bus: 'virtio', file }],
      nics: [{ name: 'pod', model: 'virtio', mac: '52:54:00:00:00:01', link: { kind: 'user' } }],
      hasRandomSource: true,
      hasBalloon: true,
    }).map(({ driver }) => driver);
    assert.deepEqual(drivers, [
      'virtio-scsi-device',
      'virtio-rng-device',
      'virtio-balloon-device',
      'virtio-blk-device',
      'virtio-net-device',
    ]);
  });

  it('tells the program the zone of the guest’s clock', () => {
    assert.deepEqual(environmentOf({ ...small, clock: 'Europe/Berlin' }), { TZ: 'Europe/Berlin' });
    assert.deepEqual(environmentOf(small), {});
    assert.deepEqual(valuesOf(argumentsOf({ clock: 'Europe/Berlin' }), '-rtc'), ['base=localtime']);
  });
});
