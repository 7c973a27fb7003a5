import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validateInstance, validateMachine } from './admission.ts';
import { completeInstance, completeMachine, type MachineDefaults } from './mutation.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { machineOf } from './vm-world.fixture.ts';

const root = { name: 'root', persistentVolumeClaim: { claimName: 'c' } };

function machineWith(template: object, spec: object = {}): VirtualMachine {
  const base = machineOf('Always');
  const domain = { memory: { guest: '1Gi' }, devices: {} };
  return {
    ...base,
    spec: { ...base.spec, template: { spec: { domain, ...template } }, ...spec },
  };
}

const devices = (each: object): object => ({ domain: { memory: { guest: '1Gi' }, devices: each } });

function causesOf(machine: VirtualMachine): readonly string[] {
  const causes = validateMachine(machine, []).refusal?.details?.causes ?? [];
  return causes.map(({ field = '', message = '' }) => `${field}: ${message}`);
}

describe('what KubeVirt refuses is refused, at the same field and with a way out', () => {
  const path = 'spec.template.spec';
  const disks = `${path}.domain.devices.disks`;
  const cases: readonly (readonly [string, VirtualMachine, readonly RegExp[]])[] = [
    [
      'running and runStrategy',
      machineWith({}, { running: true }),
      [/^spec\.running: .*mutually exclusive; remove/],
    ],
    ['neither of them', machineWith({}, { runStrategy: undefined }), [/^spec\.running: One of/]],
    [
      'an unknown strategy',
      machineWith({}, { runStrategy: 'Often' }),
      [/^spec\.runStrategy: Invalid RunStrategy \(Often\); use/],
    ],
    [
      'no template',
      machineWith({}, { template: undefined }),
      [/^spec\.template: missing virtual machine template/],
    ],
    [
      'no memory',
      machineWith({ domain: { devices: {} } }),
      [/no memory requested.*; set spec\.template\.spec\.domain\.memory\.guest/],
    ],
    [
      'more than its limit',
      machineWith({
        domain: { memory: { guest: '2Gi' }, resources: { limits: { memory: '1Gi' } }, devices: {} },
      }),
      [/memory\.guest: .*'2Gi' must be equal to or less than the memory limit/],
    ],
    [
      'negative grace',
      machineWith({ terminationGracePeriodSeconds: -1 }),
      [/terminationGracePeriodSeconds: /],
    ],
    [
      'two disks of one boot order',
      machineWith({
        volumes: [root, { ...root, name: 'b', persistentVolumeClaim: { claimName: 'd' } }],
        ...devices({
          disks: [
            { name: 'root', bootOrder: 1 },
            { name: 'b', bootOrder: 1 },
          ],
        }),
      }),
      [/^.*disks\[1\]\.bootOrder: Boot order for .* already set for a different device\.; give each/],
    ],
    [
      'two disks of one name, without a volume',
      machineWith(devices({ disks: [{ name: 'a' }, { name: 'a' }] })),
      [
        new RegExp(`^${escaped(disks)}\\[1\\]\\.name: .* must not have the same Name\\.; rename`),
        /disks\[0\]\.Name 'a' not found\.; add a volume/,
        /disks\[1\]\.Name 'a' not found/,
      ],
    ],
    [
      'a bus that nobody knows',
      machineWith({ volumes: [root], ...devices({ disks: [{ name: 'root', disk: { bus: 'nvme' } }] }) }),
      [/disks\[0\]\.disk\.bus: .*unrecognized bus nvme, must be one of: \[virtio scsi sata usb\]; use/],
    ],
    [
      'a name that is too long',
      machineWith({
        volumes: [{ ...root, name: 'x'.repeat(64) }],
        ...devices({ disks: [{ name: 'x'.repeat(64) }] }),
      }),
      [/disks\[0\]\.name: must be no more than 63 characters; choose/],
    ],
    [
      'inline cloud-init of more than 2048 bytes',
      machineWith({
        volumes: [{ name: 's', cloudInitNoCloud: { userData: 'x'.repeat(2049) } }],
        ...devices({ disks: [{ name: 's' }] }),
      }),
      [/cloudInitNoCloud: .*userdata exceeds 2048 byte limit\.; put it into a Secret/],
    ],
    [
      'a volume of two sources',
      machineWith({
        volumes: [{ ...root, configMap: { name: 'm' } }],
        ...devices({ disks: [{ name: 'root' }] }),
      }),
      [/volumes\[0\]: .* must have exactly one source type set; name/],
    ],
    [
      'volumes that cannot be had',
      machineWith({
        volumes: [
          { name: 'a', hostDisk: { path: '/etc', type: 'Disk' } },
          { name: 'b', containerDisk: { image: '', path: 'disk/../x' } },
        ],
        ...devices({ disks: [{ name: 'a' }, { name: 'b' }] }),
      }),
      [
        /volumes\[0\]\.hostDisk: HostDisk feature gate is not enabled; import/,
        /volumes\[1\]\.containerDisk\.image: .* is a required field; name/,
        /volumes\[1\]\.containerDisk\.path: .* must be an absolute path/,
      ],
    ],
    [
      'one address twice',
      machineWith({
        networks: [
          { name: 'a', pod: {} },
          { name: 'b', multus: { networkName: 'n' } },
        ],
        ...devices({
          interfaces: [
            { name: 'a', masquerade: {}, macAddress: '02:00:00:00:00:01' },
            { name: 'b', bridge: {}, macAddress: '02-00-00-00-00-01' },
          ],
        }),
      }),
      [/interfaces\[1\]\.macAddress: .* have the same MAC address 02:00:00:00:00:01; leave/],
    ],
    [
      'a card without a network, a network without a card',
      machineWith({
        networks: [{ name: 'b', pod: {} }],
        ...devices({ interfaces: [{ name: 'a', masquerade: {} }] }),
      }),
      [/interfaces\[0\]\.name 'a' not found/, /networks\[0\]\.name 'b' not found/],
    ],
    [
      'Secure Boot without SMM',
      machineWith({
        domain: { memory: { guest: '1Gi' }, firmware: { bootloader: { efi: {} } }, devices: {} },
      }),
      [/SecureBoot requires SMM, which is currently disabled\.; set/],
    ],
    [
      'what cannot be had',
      machineWith(devices({ hostDevices: [{ name: 'x' }] })),
      [/hostDevices: devices of the host cannot be passed through; remove the device/],
    ],
  ];
  for (const [name, machine, expected] of cases)
    it(name, () => {
      const found = causesOf(machine);
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? '', pattern);
    });

  it('as a 422 of the webhook that clients know', () => {
    const { refusal } = validateMachine(machineWith({}, { running: true }), []);
    assert.equal(refusal?.code, 422);
    assert.match(
      refusal.message,
      /^admission webhook "virtualmachine-validator\.kubevirt\.io" denied the request: Running/,
    );
  });

  it('a volume without a disk is given one in an instance, and refused where it was not', () => {
    const instance = { metadata: {}, spec: machineWith({ volumes: [root] }).spec.template.spec };
    assert.match(validateInstance(instance).refusal?.message ?? '', /volumes\[0\]\.name 'root' not found/);
    assert.equal(validateInstance(completeInstance(instance)).refusal, undefined);
  });

  it('fields without effect are warned of', () => {
    const machine = machineWith({ ...devices({ sound: { name: 's' } }), dnsPolicy: 'None' });
    assert.deepEqual(validateMachine(machine, []), {
      refusal: undefined,
      warnings: [
        'spec.template.spec.domain.devices.sound has no effect',
        'spec.template.spec.dnsPolicy has no effect',
      ],
    });
  });
});

describe('what Harvester refuses', () => {
  const other: VirtualMachine = {
    ...machineWith({
      volumes: [root],
      networks: [{ name: 'n', multus: { networkName: 'lan' } }],
      ...devices({
        disks: [{ name: 'root' }],
        interfaces: [{ name: 'n', bridge: {}, macAddress: '02:00:00:00:00:01' }],
      }),
    }),
    metadata: { namespace: 'default', name: 'other', uid: 'vm-2' },
  };

  it('a volume and an address that another machine has', () => {
    const { template } = other.spec;
    const machine = { ...machineWith({}), spec: { runStrategy: 'Always' as const, template } };
    const causes = validateMachine(machine, [other]).refusal?.details?.causes ?? [];
    assert.deepEqual(
      causes.map(({ message }) => message),
      [
        'the volume c is already used by VM default/other; detach it there, or attach another volume',
        'MAC address 02:00:00:00:00:01 is already used by VM default/other on network default/lan; leave it empty to get a new one',
      ],
    );
    assert.equal(validateMachine(other, [other]).refusal, undefined, 'its own are its own');
  });

  it('templates without names, unknown modes, empty drives that are not SATA', () => {
    const machine = machineWith(devices({ disks: [{ name: 'cd', cdrom: { bus: 'scsi' } }] }));
    const metadata = {
      ...machine.metadata,
      annotations: { 'harvesterhci.io/volumeClaimTemplates': '[{"metadata":{}}]' },
      labels: { 'harvesterhci.io/maintain-mode-strategy': 'Sleep' },
    };
    const causes = validateMachine({ ...machine, metadata }, []).refusal?.details?.causes ?? [];
    assert.deepEqual(
      causes.map(({ field }) => field),
      [
        'metadata.annotations[harvesterhci.io/volumeClaimTemplates]',
        'metadata.labels[harvesterhci.io/maintain-mode-strategy]',
        'spec.template.spec.domain.devices.disks[0].cdrom.bus',
      ],
    );
  });
});

describe('what is added', () => {
  const defaults: MachineDefaults = {
    overcommit: { cpu: 1000, memory: 150 },
    terminationGracePeriodSeconds: 120,
    hasMemoryOverheadRatio: false,
    maxHotplugRatio: 4,
    newMac: () => '02:00:00:00:00:99',
  };
  const machine = machineWith({
    domain: {
      resources: { limits: { cpu: '2', memory: '1Gi' } },
      devices: { interfaces: [{ name: 'n', bridge: {} }] },
    },
  });

  it('processors, memory, requests, grace and addresses', () => {
    const complete = completeMachine(machine, undefined, defaults);
    assert.deepEqual(complete.spec.template.spec, {
      terminationGracePeriodSeconds: 120,
      domain: {
        cpu: { cores: 1, sockets: 1, threads: 1, maxSockets: 1 },
        memory: { guest: '924Mi' },
        resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '200m', memory: '682Mi' } },
        devices: { interfaces: [{ name: 'n', bridge: {}, macAddress: '02:00:00:00:00:99' }] },
      },
    });
    assert.deepEqual(completeMachine(complete, complete, defaults), complete, 'twice is once');
  });

  it('a start after Halted brings back the strategy of before, or RerunOnFailure', () => {
    const halted = machineOf('Halted');
    const started = machineOf('Always');
    assert.equal(completeMachine(started, halted, defaults).spec.runStrategy, 'RerunOnFailure');
    const manual = completeMachine(machineOf('Manual'), undefined, defaults);
    const back = {
      ...started,
      metadata: { ...started.metadata, annotations: manual.metadata.annotations ?? {} },
    };
    assert.equal(completeMachine(back, halted, defaults).spec.runStrategy, 'Manual');
    assert.equal(completeMachine(started, machineOf('Manual'), defaults).spec.runStrategy, 'Always');
  });
});

function escaped(text: string): string {
  return text.replaceAll('.', '\\.');
}
