import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DomainSpec, InstanceSpec } from './instance-spec.ts';
import type { TemplateChange } from './live-size.ts';
import { type LiveUpdate, planLiveUpdate } from './live-update.ts';
import { completeInstance } from './mutation.ts';

const abilities = { canAddSockets: true, canAddMemory: true };

interface Template extends Omit<Partial<InstanceSpec>, 'domain'> {
  readonly domain?: Partial<DomainSpec>;
}

function specOf({ domain, ...rest }: Template): InstanceSpec {
  return { ...rest, domain: { memory: { guest: '1Gi' }, devices: {}, ...domain } };
}

/** What becomes of a change to a machine that was started from `started`. */
function change(started: Template, wanted: Template): LiveUpdate & { readonly instance: InstanceSpec } {
  const instance = completeInstance({ metadata: {}, spec: specOf(started) }).spec;
  const update = planLiveUpdate({ started: specOf(started), wanted: specOf(wanted), instance }, abilities);
  return { ...update, instance };
}

describe('nothing', () => {
  it('is changed where the template is what it was, also where the instance was given more', () => {
    const lists: readonly Template[] = [
      {},
      { networks: [], domain: { devices: { interfaces: [], disks: [] } } },
    ];
    for (const template of lists) {
      const { spec, restartFields, instance } = change(template, template);
      assert.deepEqual(restartFields, []);
      assert.deepEqual(JSON.parse(JSON.stringify(spec)), JSON.parse(JSON.stringify(instance)));
    }
  });
});

describe('amounts', () => {
  const withCpu = (sockets: number): Template => ({ domain: { cpu: { sockets, cores: 1, maxSockets: 4 } } });
  const withMemory = (guest: string): Template => ({ domain: { memory: { guest, maxGuest: '4Gi' } } });

  it('grow at once, within their bounds', () => {
    assert.equal(change(withCpu(1), withCpu(4)).spec.domain.cpu?.sockets, 4);
    assert.equal(change(withMemory('1Gi'), withMemory('2Gi')).spec.domain.memory?.guest, '2Gi');
  });

  it('bring their requests along, as long as these are not of limits that leave room', () => {
    const resourcesOf = (resources: DomainSpec['resources']): unknown => {
      const of = (sockets: number, guest: string): Template => ({
        domain: { cpu: { sockets, maxSockets: 4 }, memory: { guest, maxGuest: '4Gi' }, resources },
      });
      const { restartFields, spec } = change(of(1, '1Gi'), of(3, '2Gi'));
      assert.deepEqual(restartFields, []);
      return spec.domain.resources?.requests;
    };
    assert.deepEqual(
      [
        resourcesOf(undefined),
        resourcesOf({ requests: { memory: '768Mi' } }),
        resourcesOf({ requests: { cpu: '100m', memory: '512Mi' }, limits: { cpu: 2, memory: '4Gi' } }),
      ],
      [undefined, { memory: '1536Mi' }, { cpu: '150m', memory: '512Mi' }],
    );
  });

  it('can be taken back for as long as the process has not grown', () => {
    const of = (sockets: number, guest: string): InstanceSpec =>
      specOf({ domain: { cpu: { sockets, maxSockets: 4 }, memory: { guest, maxGuest: '4Gi' } } });
    const back = (wanted: InstanceSpec, seen: TemplateChange['seen']): readonly unknown[] => {
      const { spec, restartFields } = planLiveUpdate(
        { started: of(1, '1Gi'), wanted, instance: of(4, '4Gi'), seen },
        abilities,
      );
      return [spec.domain.cpu?.sockets, spec.domain.memory?.guest, restartFields.length];
    };
    const waiting = { sockets: 1, guest: '1Gi' };
    assert.deepEqual(
      [
        back(of(1, '1Gi'), waiting),
        back(of(2, '2Gi'), waiting),
        back(of(1, '1Gi'), { sockets: 4, guest: '4Gi' }),
        back(of(2, '2Gi'), { sockets: 4, guest: '4Gi' }),
      ],
      [
        [1, '1Gi', 0],
        [2, '2Gi', 0],
        [4, '4Gi', 0],
        [4, '4Gi', 2],
      ],
    );
  });

  it('beyond them, and less, with the next start', () => {
    const sockets = 'template.spec.domain.cpu.sockets';
    const memory = 'template.spec.domain.memory.guest';
    assert.deepEqual(change(withCpu(1), withCpu(5)).restartFields, [sockets]);
    assert.deepEqual(change(withCpu(2), withCpu(1)).restartFields, [sockets]);
    assert.deepEqual(change(withMemory('1Gi'), withMemory('5Gi')).restartFields, [memory]);
    assert.deepEqual(change(withMemory('1Gi'), withMemory('512Mi')).restartFields, [memory]);
    assert.deepEqual(change(withMemory('1Gi'), withMemory('1024Mi')).restartFields, []);
  });
});

describe('devices', () => {
  const hot = { name: 'h', persistentVolumeClaim: { claimName: 'h', hotpluggable: true } };
  const fixed = { name: 'f', persistentVolumeClaim: { claimName: 'f' } };
  const withVolumes = (
    volumes: InstanceSpec['volumes'],
    disks: DomainSpec['devices']['disks'],
  ): Template => ({
    ...(volumes ? { volumes } : {}),
    domain: { devices: { disks } },
  });
  const names = (items: readonly { readonly name: string }[] | undefined): readonly string[] =>
    (items ?? []).map(({ name }) => name);

  it('that are hotpluggable come and go; others wait', () => {
    const bare = withVolumes([fixed], [{ name: 'f' }]);
    const both = withVolumes([fixed, hot], [{ name: 'f' }, { name: 'h' }]);
    const added = change(bare, both);
    assert.deepEqual(
      [names(added.spec.volumes), names(added.spec.domain.devices.disks)],
      [
        ['f', 'h'],
        ['f', 'h'],
      ],
    );
    const removed = change(both, bare);
    assert.deepEqual([names(removed.spec.volumes), names(removed.spec.domain.devices.disks)], [['f'], ['f']]);
    assert.deepEqual([added.restartFields, removed.restartFields], [[], []]);
    assert.deepEqual(change(withVolumes([], []), bare).restartFields, [
      'template.spec.domain.devices.disks',
      'template.spec.volumes',
    ]);
  });

  it('a drive is emptied and filled', () => {
    const drive = { name: 'h', cdrom: { bus: 'sata' } };
    const ejected = change(withVolumes([hot], [drive]), withVolumes([], [drive]));
    assert.deepEqual([ejected.restartFields, ejected.spec.volumes], [[], []]);
    assert.deepEqual(ejected.spec.domain.devices.disks, [drive]);
    const inserted = change(withVolumes([], [drive]), withVolumes([hot], [drive]));
    assert.deepEqual([inserted.restartFields, names(inserted.spec.volumes)], [[], ['h']]);
  });

  it('network cards come and go; what is changed in one waits', () => {
    const withNics = (
      ...interfaces: readonly { readonly name: string; readonly model?: string }[]
    ): Template => ({
      networks: interfaces.map(({ name }) => ({ name, multus: { networkName: name } })),
      domain: { devices: { interfaces } },
    });
    const added = change(withNics({ name: 'a' }), withNics({ name: 'a' }, { name: 'b' }));
    assert.deepEqual([added.restartFields, names(added.spec.domain.devices.interfaces)], [[], ['a', 'b']]);
    const removed = change(withNics({ name: 'a' }, { name: 'b' }), withNics({ name: 'b' }));
    assert.deepEqual([removed.restartFields, names(removed.spec.domain.devices.interfaces)], [[], ['b']]);
    assert.deepEqual(change(withNics({ name: 'a' }), withNics({ name: 'a', model: 'e1000' })).restartFields, [
      'template.spec.domain.devices.interfaces',
    ]);
  });
});
