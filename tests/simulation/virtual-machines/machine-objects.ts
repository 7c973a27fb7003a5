import type { KubeObject } from '@sheaf/api';
import type { Random } from '@sheaf/base';
import { claimNames, imageNames } from './kinds.ts';

/** What a random machine is like; `Random` decides. */
export function randomMachine(
  random: Random,
  place: { readonly namespace: string; readonly name: string },
): KubeObject {
  const pick = <T>(items: readonly T[]): T => items[random.integer(items.length)] as T;
  const volumes = randomVolumes(random, place.name);
  const disks = volumes.map(({ name }) => ({ name, disk: { bus: pick(['virtio', 'scsi']) } }));
  const template = random.integer(3) === 0 ? claimTemplateOf(place.name) : undefined;
  const removed = random.integer(2) === 0 ? `${place.name}-own` : undefined;
  if (template) {
    volumes.push({ name: 'own', persistentVolumeClaim: { claimName: `${place.name}-own` } });
    disks.push({ name: 'own', disk: { bus: 'virtio' } });
  }
  return {
    metadata: {
      ...place,
      annotations: {
        ...(template ? { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify([template]) } : {}),
        ...(removed ? { 'harvesterhci.io/removedPersistentVolumeClaims': removed } : {}),
      },
    },
    spec: {
      ...randomStrategy(random),
      template: {
        spec: {
          domain: { cpu: { cores: 1 }, memory: { guest: '64Mi' }, devices: { disks } },
          terminationGracePeriodSeconds: pick([0, 5, 60]),
          volumes,
        },
      },
    },
  };
}

/** Those that run machines are there more often. */
const strategies = [
  'Always',
  'Always',
  'RerunOnFailure',
  'RerunOnFailure',
  'Halted',
  'Manual',
  'Once',
] as const;

/** As old clients say it, or as new ones do. */
export function randomStrategy(random: Random): { running: boolean } | { runStrategy: string } {
  if (random.integer(4) === 0) return { running: random.integer(3) > 0 };
  return { runStrategy: strategies[random.integer(strategies.length)] ?? 'Always' };
}

interface VolumeOfMachine {
  readonly name: string;
  readonly [source: string]: unknown;
}

/** One claim has one writer: machine `a` prefers the first of the claims, `b` the second, and now and then they meet. */
function randomVolumes(random: Random, machine: string): VolumeOfMachine[] {
  const volumes: VolumeOfMachine[] = [];
  const chance = random.integer(10);
  const own = machine === 'a' ? claimNames[0] : claimNames[1];
  const claimName = random.integer(10) === 0 ? claimNames[random.integer(claimNames.length)] : own;
  if (chance < 8) volumes.push({ name: 'root', persistentVolumeClaim: { claimName } });
  if (chance === 8) volumes.push({ name: 'root', dataVolume: { name: `${machine}-fetched` } });
  if (random.integer(8) === 0)
    volumes.push({ name: 'seed', cloudInitNoCloud: { userData: '#cloud-config' } });
  if (random.integer(6) === 0) volumes.push({ name: 'scratch', emptyDisk: { capacity: '64Ki' } });
  return volumes;
}

function claimTemplateOf(machine: string): object {
  const { spec } = claimOf({ namespace: '', name: '' }, { storageClassName: 'longhorn', mebibytes: 1 });
  return { metadata: { name: `${machine}-own` }, spec };
}

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

export function claimOf(
  place: Place,
  parts: {
    readonly storageClassName: string;
    readonly mebibytes: number;
    readonly dataSource?: { readonly kind: string; readonly name: string; readonly apiGroup?: string };
  },
): KubeObject {
  const { storageClassName, mebibytes, dataSource } = parts;
  return {
    metadata: place,
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      storageClassName,
      resources: { requests: { storage: `${mebibytes}Mi` } },
      ...(dataSource ? { dataSource } : {}),
    },
  };
}

export function urlOf(name: string): string {
  return `http://images.test/${name}`;
}

/** A volume that is fetched, or empty, or a copy. */
export function dataVolumeOf(place: Place, random: Random): KubeObject {
  const sources = [
    { blank: {} },
    { http: { url: urlOf(imageNames[random.integer(imageNames.length)] ?? '') } },
    { pvc: { namespace: place.namespace, name: claimNames[random.integer(claimNames.length)] } },
  ];
  return {
    metadata: place,
    spec: {
      source: sources[random.integer(sources.length)],
      storage: { storageClassName: 'longhorn', resources: { requests: { storage: '2Mi' } } },
    },
  };
}
