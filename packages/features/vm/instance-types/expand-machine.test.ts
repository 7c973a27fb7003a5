import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { InstanceSpec } from '../instance-spec.ts';
import type { VirtualMachine, VirtualMachineSpec } from '../virtual-machine.ts';
import { expandMachine } from './expand-machine.ts';
import { inferTypes, matcherCauses } from './infer.ts';

const type: JsonObject = { cpu: { guest: 4 }, memory: { guest: '2Gi' } };

function machineOf(spec: Partial<InstanceSpec>, more: Partial<VirtualMachineSpec> = {}): VirtualMachine {
  return {
    metadata: { namespace: 'ns', name: 'a' },
    spec: {
      runStrategy: 'Always',
      instancetype: { name: 'small' },
      template: { spec: { domain: { devices: {} }, ...spec } },
      ...more,
    },
  };
}

interface Given {
  readonly spec?: Partial<InstanceSpec>;
  readonly type?: JsonObject | undefined;
  readonly preference?: JsonObject;
}

function expandedOf({ spec = {}, type: given = type, preference }: Given) {
  const named = preference ? { preference: { name: 'linux', kind: 'VirtualMachinePreference' } } : {};
  const found = (object: JsonObject | undefined) => (object ? { metadata: {}, spec: object } : undefined);
  return expandMachine(machineOf(spec, named), { instancetype: found(given), preference: found(preference) });
}

/** The template's spec, or what is wrong. */
function shown(given: Given): unknown {
  const expansion = expandedOf(given);
  if (expansion.state === 'expanded') return expansion.template.spec;
  return expansion.state === 'conflict' ? expansion.causes.map(({ message }) => message) : expansion.text;
}

describe('expandMachine', () => {
  it('gives processors and memory, and says where they are from', () => {
    const expansion = expandedOf({ type: { ...type, annotations: { a: 'b' } }, preference: {} });
    assert.deepEqual(expansion.state === 'expanded' && expansion.template, {
      metadata: {
        annotations: {
          a: 'b',
          'kubevirt.io/cluster-instancetype-name': 'small',
          'kubevirt.io/preference-name': 'linux',
        },
      },
      spec: { domain: { devices: {}, cpu: { sockets: 4, cores: 1, threads: 1 }, memory: { guest: '2Gi' } } },
    });
  });

  const topologies: readonly [JsonObject, string][] = [
    [{ preferredCPUTopology: 'preferCores' }, '1 4 1'],
    [{ preferredCPUTopology: 'threads' }, '1 1 4'],
    [{ preferredCPUTopology: 'any' }, '4 1 1'],
    [{ preferredCPUTopology: 'spread' }, '2 2 1'],
    [{ preferredCPUTopology: 'spread', spreadOptions: { ratio: 4 } }, '1 4 1'],
    [{ preferredCPUTopology: 'spread', spreadOptions: { across: 'CoresThreads' } }, '1 2 2'],
    [{ preferredCPUTopology: 'preferSpread', spreadOptions: { across: 'SocketsCoresThreads' } }, '1 2 2'],
  ];
  for (const [cpu, expected] of topologies)
    it(`spreads four processors as ${JSON.stringify(cpu)}: ${expected}`, () => {
      const { domain } = shown({ preference: { cpu } }) as InstanceSpec;
      assert.equal([domain.cpu?.sockets, domain.cpu?.cores, domain.cpu?.threads].join(' '), expected);
    });

  const conflicts: readonly [string, Given, RegExp][] = [
    [
      'sockets',
      { spec: { domain: { devices: {}, cpu: { sockets: 2 } } } },
      /VM field\(s\) spec\.template\.spec\.domain\.cpu\.sockets conflicts with selected instance type/,
    ],
    [
      'memory',
      { spec: { domain: { devices: {}, memory: { guest: '1Gi' } } } },
      /domain\.memory\.guest conflicts/,
    ],
    [
      'requests',
      { spec: { domain: { devices: {}, resources: { requests: { cpu: 1 } } } } },
      /domain\.resources\.requests\.cpu conflicts/,
    ],
    [
      'a model',
      {
        spec: { domain: { devices: {}, cpu: { model: 'host' } } },
        type: { ...type, cpu: { guest: 1, model: 'x' } },
      },
      /domain\.cpu\.model conflicts/,
    ],
    [
      'a node',
      { spec: { nodeSelector: { a: 'b' } }, type: { ...type, nodeSelector: { c: 'd' } } },
      /spec\.nodeSelector conflicts/,
    ],
    [
      'an odd spread',
      { preference: { cpu: { preferredCPUTopology: 'spread', spreadOptions: { ratio: 3 } } } },
      /4 vCPUs .* not divisible by the .* of 3 provided/,
    ],
    [
      'too few processors',
      { preference: { requirements: { cpu: { guest: 8 } } } },
      /insufficient CPU resources of 4 vCPU provided by instance type, preference requires 8/,
    ],
    [
      'too little memory',
      { preference: { requirements: { memory: { guest: '4Gi' } } } },
      /insufficient Memory resources of 2Gi provided by instance type, preference requires 4Gi/,
    ],
    [
      'an architecture',
      { preference: { requirements: { architecture: 'arm64' } } },
      /requires architecture arm64 but amd64/,
    ],
  ];
  for (const [name, given, words] of conflicts)
    it(`refuses ${name}`, () => assert.match(String(shown(given)), words));

  it('gives memory out again, where the type says so', () => {
    const { domain } = shown({
      type: { ...type, memory: { guest: '2Gi', overcommitPercent: 50 } },
    }) as InstanceSpec;
    assert.deepEqual(domain.resources, { requests: { memory: '1Gi' } });
  });

  it('lets a preference fill what is left open, and nothing else', () => {
    const preference: JsonObject = {
      devices: {
        preferredDiskBus: 'virtio',
        preferredCdromBus: 'sata',
        preferredInterfaceModel: 'e1000e',
        preferredInterfaceMasquerade: {},
        preferredRng: {},
        preferredAutoattachGraphicsDevice: false,
      },
      firmware: { preferredEfi: { secureBoot: false } },
      machine: { preferredMachineType: 'q35' },
      clock: { preferredClockOffset: { timezone: 'UTC' } },
      cpu: { preferredCPUFeatures: [{ name: 'a', policy: 'require' }] },
      features: { preferredHyperv: { relaxed: {} } },
      preferredTerminationGracePeriodSeconds: 7,
    };
    const spec: Partial<InstanceSpec> = {
      networks: [{ name: 'default', pod: {} }],
      domain: {
        clock: { utc: {} },
        devices: {
          autoattachGraphicsDevice: true,
          disks: [{ name: 'a' }, { name: 'b', disk: { bus: 'scsi' } }, { name: 'c', cdrom: {} }],
          interfaces: [{ name: 'default' }, { name: 'other', model: 'virtio', bridge: {} }],
        },
      },
    };
    const { domain, terminationGracePeriodSeconds } = shown({ spec, preference }) as InstanceSpec;
    assert.deepEqual(
      [domain.devices, domain.firmware, domain.machine, domain.clock, terminationGracePeriodSeconds],
      [
        {
          autoattachGraphicsDevice: true,
          rng: {},
          disks: [
            { name: 'a', disk: { bus: 'virtio' } },
            { name: 'b', disk: { bus: 'scsi' } },
            { name: 'c', cdrom: { bus: 'sata' } },
          ],
          interfaces: [
            { name: 'default', model: 'e1000e', masquerade: {} },
            { name: 'other', model: 'virtio', bridge: {} },
          ],
        },
        { bootloader: { efi: { secureBoot: false } } },
        { type: 'q35' },
        { utc: {} },
        7,
      ],
    );
    assert.deepEqual(domain.cpu?.features, [{ name: 'a', policy: 'require' }]);
  });

  it('says what is missing', () => {
    const named = machineOf({}, { instancetype: { name: 'x', kind: 'virtualmachineinstancetypes' } });
    assert.deepEqual(expandMachine(named, {}), {
      state: 'missing',
      reason: 'FailedFindInstancetype',
      text: 'There is no VirtualMachineInstancetype x',
    });
  });
});

describe('matchers', () => {
  const labels = {
    'instancetype.kubevirt.io/default-instancetype': 'u1',
    'instancetype.kubevirt.io/default-instancetype-kind': 'VirtualMachineInstancetype',
  };
  const objects = {
    claim: (namespace: string, name: string): KubeObject | undefined =>
      namespace === 'ns' && name === 'c'
        ? { metadata: { labels } }
        : name === 'bare'
          ? { metadata: {} }
          : undefined,
    dataVolume: () => undefined,
    dataSource: () => undefined,
  };
  const volume = (claimName: string): Partial<InstanceSpec> => ({
    domain: { devices: {}, memory: { guest: '512Mi' } },
    volumes: [{ name: 'root', persistentVolumeClaim: { claimName } }],
  });
  const inferred = (claim: string, matcher: object) =>
    inferTypes(machineOf(volume(claim), { instancetype: { inferFromVolume: 'root', ...matcher } }), objects);

  it('are written out by the labels of a volume', () => {
    const { machine, causes } = inferred('c', { inferFromVolumeFailurePolicy: 'Ignore' });
    assert.deepEqual(
      [machine.spec.instancetype, causes],
      [{ name: 'u1', kind: 'VirtualMachineInstancetype' }, []],
    );
    assert.equal(machine.spec.template.spec.domain.memory, undefined);
  });

  it('are left out where they may be missing, and asked for where not', () => {
    const { machine } = inferred('bare', { inferFromVolumeFailurePolicy: 'Ignore' });
    assert.deepEqual(
      [machine.spec.instancetype, machine.spec.template.spec.domain.memory?.guest],
      [undefined, '512Mi'],
    );
    assert.match(
      String(inferred('bare', {}).causes[0]?.message),
      /unable to find required .*default-instancetype label/,
    );
    assert.match(
      String(inferred('gone', { inferFromVolumeFailurePolicy: 'Ignore' }).causes[0]?.message),
      /is not there/,
    );
  });

  const wrong: readonly [object, RegExp | undefined][] = [
    [{ name: 'a' }, undefined],
    [{ name: 'a', kind: 'VirtualMachineClusterInstancetype' }, undefined],
    [{}, /Either Name or InferFromVolume/],
    [{ name: 'a', inferFromVolume: 'b' }, /Name already set/],
    [{ name: 'a', kind: 'Pod' }, /unexpected kind in InstancetypeMatcher: Pod/],
    [{ name: 'a', revisionName: 'b' }, /as they are now/],
  ];
  for (const [instancetype, words] of wrong)
    it(`${JSON.stringify(instancetype)}: ${words ?? 'fine'}`, () => {
      const [first] = matcherCauses(machineOf({}, { instancetype }));
      if (words) assert.match(first?.message ?? '', words);
      else assert.equal(first, undefined);
    });
});
