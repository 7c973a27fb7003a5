import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DiskFile } from '@sheaf/ports';
import type { DiskSpec, DomainSpec, InstanceSpec } from './instance-spec.ts';
import { translateDisks } from './machine-disks.ts';
import { type Translation, translateInstance } from './machine-spec.ts';

const files = new Map([
  ['root', { path: '/v/root.qcow2', format: 'qcow2' as const }],
  ['seed', { path: '/v/seed.iso', format: 'raw' as const }],
]);
const links = new Map([['lan', { bridge: 'br-lan' }]]);

interface PartialSpec extends Omit<Partial<InstanceSpec>, 'domain'> {
  readonly domain?: Partial<DomainSpec>;
}

function translate(spec: PartialSpec): Translation {
  const domain = { memory: { guest: '1Gi' }, devices: { autoattachPodInterface: false }, ...spec.domain };
  const metadata = {
    namespace: 'default',
    name: 'web',
    uid: 'u1',
    ownerReferences: [
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'web', uid: 'vm1', controller: true },
    ],
  };
  return translateInstance({ metadata, spec: { ...spec, domain } }, { files, links });
}

function specOf(spec: PartialSpec): Extract<Translation, { isPossible: true }>['spec'] {
  const result = translate(spec);
  assert.ok(result.isPossible, JSON.stringify(result));
  return result.spec;
}

it('a bare machine has what KubeVirt gives it', () => {
  assert.deepEqual(specOf({ domain: { devices: {} } }), {
    id: 'u1',
    title: 'default/web',
    disks: [],
    nics: [{ name: 'default', model: 'virtio', mac: '52:54:00:0e:51:0b', link: { kind: 'user' } }],
    machineType: 'q35',
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 2 ** 30 },
    firmware: { kind: 'bios' },
    identity: { uuid: 'd32ff544-f682-571b-8677-3762f07ab8a4' },
    hasGraphics: true,
    hasSerialConsole: true,
    hasAgentChannel: true,
    hasRandomSource: false,
    hasBalloon: true,
    hasTablet: false,
    clock: 'utc',
  });
});

describe('domain', () => {
  const cases: readonly (readonly [string, Partial<DomainSpec>, object])[] = [
    [
      'topology',
      { cpu: { sockets: 2, cores: 3, threads: 2, maxSockets: 8 } },
      { cpu: { sockets: 2, cores: 3, threads: 2, maxSockets: 8 } },
    ],
    [
      'processors as a resource',
      { resources: { limits: { cpu: '3' } } },
      { cpu: { sockets: 3, cores: 1, threads: 1 } },
    ],
    [
      'model and features',
      {
        cpu: {
          cores: 1,
          model: 'host-model',
          features: [{ name: 'vmx' }, { name: 'aes', policy: 'disable' }],
        },
      },
      {
        cpu: {
          sockets: 1,
          cores: 1,
          threads: 1,
          model: 'host-model',
          features: [
            { name: 'vmx', policy: 'require' },
            { name: 'aes', policy: 'disable' },
          ],
        },
      },
    ],
    [
      'memory as a resource',
      { memory: {}, resources: { requests: { memory: '64Mi' } } },
      { memory: { bytes: 2 ** 26 } },
    ],
    [
      'room for memory',
      { memory: { guest: '1Gi', maxGuest: '4Gi' } },
      { memory: { bytes: 2 ** 30, maxBytes: 2 ** 32 } },
    ],
    ['versioned machine type', { machine: { type: 'pc-q35-rhel9.4.0' } }, { machineType: 'q35' }],
    ['old machine type', { machine: { type: 'pc-i440fx-7.2' } }, { machineType: 'pc' }],
    [
      'EFI is secure unless said',
      { firmware: { bootloader: { efi: {} } } },
      { firmware: { kind: 'efi', isSecureBoot: true } },
    ],
    [
      'EFI with variables that stay',
      { firmware: { bootloader: { efi: { secureBoot: false, persistent: true } } } },
      { firmware: { kind: 'efi', isSecureBoot: false, persistentKey: 'vm1' } },
    ],
    [
      'identity',
      {
        firmware: { uuid: 'f0000000-0000-4000-8000-000000000000', serial: 'S1' },
        chassis: { manufacturer: 'M', version: 'V', sku: 'K', asset: 'A' },
      },
      {
        identity: {
          uuid: 'f0000000-0000-4000-8000-000000000000',
          serial: 'S1',
          manufacturer: 'M',
          version: 'V',
          sku: 'K',
          assetTag: 'A',
        },
      },
    ],
    ['time zone', { clock: { timezone: 'Europe/Berlin' } }, { clock: 'Europe/Berlin' }],
  ];
  for (const [name, domain, expected] of cases)
    it(name, () => {
      const spec: Record<string, unknown> = { ...specOf({ domain }) };
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, spec[key]])), expected);
    });

  it('devices that are only there or not', () => {
    const { watchdog, tpm, hasRandomSource, hasGraphics, hasSerialConsole, hasBalloon, hasTablet } = specOf({
      domain: {
        devices: {
          autoattachPodInterface: false,
          watchdog: { name: 'w', i6300esb: { action: 'poweroff' } },
          tpm: { persistent: true },
          rng: {},
          autoattachGraphicsDevice: false,
          autoattachSerialConsole: false,
          autoattachMemBalloon: false,
          inputs: [{ type: 'tablet', name: 't', bus: 'usb' }],
        },
      },
    });
    assert.deepEqual(
      { watchdog, tpm, hasRandomSource, hasGraphics, hasSerialConsole, hasBalloon, hasTablet },
      {
        watchdog: { model: 'i6300esb', action: 'poweroff' },
        tpm: { persistentKey: 'vm1' },
        hasRandomSource: true,
        hasGraphics: false,
        hasSerialConsole: false,
        hasBalloon: false,
        hasTablet: true,
      },
    );
  });
});

describe('disks', () => {
  const volume = { name: 'root', persistentVolumeClaim: { claimName: 'c' } };
  const file = { path: '/v/root.qcow2', format: 'qcow2' };
  const disksOf = (disk: object, volumes = [volume]): unknown =>
    specOf({
      volumes,
      domain: { devices: { autoattachPodInterface: false, disks: [{ name: 'root', ...disk }] } },
    }).disks;

  const plain = { name: 'root', device: 'disk', bus: 'sata', file, isReadOnly: false, discards: true };
  const cases: readonly (readonly [string, object, object])[] = [
    ['without a target: SATA', {}, plain],
    ['virtio', { disk: { bus: 'virtio' } }, { ...plain, bus: 'virtio' }],
    ['usb', { disk: { bus: 'usb' } }, { ...plain, bus: 'usb' }],
    [
      'lun',
      { lun: { bus: 'scsi', readonly: true } },
      { ...plain, device: 'lun', bus: 'scsi', isReadOnly: true },
    ],
    ['CD-ROM', { cdrom: { bus: 'sata' } }, { ...plain, device: 'cdrom', isReadOnly: true, discards: false }],
    [
      'everything else',
      {
        disk: { bus: 'scsi' },
        bootOrder: 2,
        cache: 'none',
        io: 'native',
        serial: 'ABC',
        blockSize: { custom: { logical: 512, physical: 4096 } },
      },
      {
        ...plain,
        bus: 'scsi',
        bootOrder: 2,
        cache: 'none',
        io: 'native',
        serial: 'ABC',
        logicalBlockBytes: 512,
        physicalBlockBytes: 4096,
      },
    ],
  ];
  for (const [name, disk, expected] of cases) it(name, () => assert.deepEqual(disksOf(disk), [expected]));

  it('are shared where that destroys nothing: by readers, and on a device of the host', () => {
    const shared = { name: 'root', shareable: true };
    const raw = new Map([['root', { path: '/dev/vdb', format: 'raw' as const }]]);
    const problemsOf = (disk: DiskSpec, of: ReadonlyMap<string, DiskFile>): readonly string[] =>
      translateDisks({ volumes: [volume], domain: { devices: { disks: [disk] } } }, of).problems.map(
        ({ field, reason }) => `${field}: ${reason}`,
      );
    const refused = ['spec.domain.devices.disks[0].shareable: a volume in a file has one writer'];
    assert.deepEqual(problemsOf({ ...shared, disk: {} }, files), refused);
    for (const target of [{ cdrom: {} }, { disk: { readonly: true } }])
      assert.deepEqual(problemsOf({ ...shared, ...target }, files), []);
    assert.deepEqual(problemsOf({ ...shared, disk: {} }, raw), []);
  });

  it('a drive without a medium', () => {
    assert.deepEqual(disksOf({ name: 'cd', cdrom: { bus: 'sata' } }), [
      { name: 'cd', device: 'cdrom', bus: 'sata', isReadOnly: true, discards: false },
      plain,
    ]);
  });

  it('a disk that no file is there for, with its way out', () => {
    const result = translate({
      volumes: [{ name: 'c', containerDisk: { image: 'x' } }],
      domain: { devices: { disks: [{ name: 'c' }] } },
    });
    assert.deepEqual(result, {
      isPossible: false,
      problems: [
        {
          field: 'spec.domain.devices.disks[0]',
          reason: 'no volume gives disk c a file',
          wayOut: 'add a volume of this name, or make the disk a CD-ROM drive',
        },
      ],
    });
  });
});

describe('network cards', () => {
  it('masqueraded with ports, bridged, and down', () => {
    const { nics } = specOf({
      networks: [
        { name: 'pod', pod: { vmNetworkCIDR: '10.1.0.0/24' } },
        { name: 'lan', multus: { networkName: 'default/lan' } },
      ],
      domain: {
        devices: {
          interfaces: [
            {
              name: 'pod',
              masquerade: {},
              model: 'e1000',
              ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }],
            },
            { name: 'lan', bridge: {}, macAddress: '02-00-00-00-00-0A', state: 'down', bootOrder: 1 },
          ],
        },
      },
    });
    assert.deepEqual(nics, [
      {
        name: 'pod',
        model: 'e1000',
        mac: '52:54:00:26:5f:12',
        link: {
          kind: 'user',
          forwards: [
            { protocol: 'tcp', guestPort: 80 },
            { protocol: 'udp', guestPort: 53 },
          ],
          cidr: '10.1.0.0/24',
        },
      },
      {
        name: 'lan',
        model: 'virtio',
        mac: '02:00:00:00:00:0a',
        link: { kind: 'bridge', bridge: 'br-lan' },
        bootOrder: 1,
        carrier: 'down',
      },
    ]);
  });
});

it('nothing is passed over: a field has an effect, is refused, or is named', () => {
  const domain = {
    memory: { guest: '1Gi', hugepages: { pageSize: '2Mi' } },
    ioThreadsPolicy: 'auto',
    devices: {
      autoattachPodInterface: false,
      gpus: [{ name: 'g' }],
      sound: { name: 's' },
      autoattachVSOCK: false,
    },
  } as unknown as DomainSpec;
  const refused = translate({ domain });
  assert.deepEqual(!refused.isPossible && refused.problems.map(({ field }) => field), [
    'spec.domain.memory.hugepages',
    'spec.domain.devices.gpus',
  ]);
  const warned = translate({
    domain: {
      ...domain,
      memory: { guest: '1Gi' },
      devices: { sound: { name: 's' } },
    } as unknown as DomainSpec,
  });
  assert.deepEqual(warned.isPossible && warned.warnings, [
    'spec.domain.devices.sound has no effect',
    'spec.domain.ioThreadsPolicy has no effect',
  ]);
});
