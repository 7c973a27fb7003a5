import type { StatusCause } from '@sheaf/base';
import type { CloudInitSource, InstanceSpec, VolumeSpec } from '../instance-spec.ts';
import { cause, duplicateNames, each } from './cause.ts';
import { containerDiskCauses } from './container-disk-rules.ts';

/** KubeVirt's limit for what is written into the spec itself. */
const maxInlineBytes = 2048;

const sources = [
  'persistentVolumeClaim',
  'sysprep',
  'cloudInitNoCloud',
  'cloudInitConfigDrive',
  'containerDisk',
  'ephemeral',
  'emptyDisk',
  'hostDisk',
  'dataVolume',
  'configMap',
  'secret',
  'downwardAPI',
  'serviceAccount',
  'downwardMetrics',
  'memoryDump',
] as const;

/** What is wrong with the volumes of a machine. */
export function volumeCauses({ volumes }: InstanceSpec, path: string): readonly StatusCause[] {
  const field = `${path}.volumes`;
  return [
    ...duplicateNames(volumes, field),
    ...each(volumes, field, (volume, place) => [
      ...sourceCauses(volume, place),
      ...referenceCauses(volume, place),
      ...availabilityCauses(volume, place),
      ...containerDiskCauses(volume.containerDisk, `${place}.containerDisk`),
      ...cloudInitCauses(volume.cloudInitNoCloud, `${place}.cloudInitNoCloud`),
      ...cloudInitCauses(volume.cloudInitConfigDrive, `${place}.cloudInitConfigDrive`),
    ]),
  ];
}

function sourceCauses(volume: VolumeSpec, field: string): readonly StatusCause[] {
  const given: Readonly<Record<string, unknown>> = { ...volume };
  const count = sources.filter((source) => given[source] !== undefined && given[source] !== null).length;
  if (count === 1) return [];
  const text = `${field} must have exactly one source type set`;
  return [cause(field, text, { wayOut: 'name where its content comes from, once' })];
}

function referenceCauses(volume: VolumeSpec, field: string): readonly StatusCause[] {
  const needed: readonly (readonly [string, object | undefined, string | undefined])[] = [
    [
      'persistentVolumeClaim.claimName',
      volume.persistentVolumeClaim,
      volume.persistentVolumeClaim?.claimName,
    ],
    ['dataVolume.name', volume.dataVolume, volume.dataVolume?.name],
    ['configMap.name', volume.configMap, volume.configMap?.name],
    ['secret.secretName', volume.secret, volume.secret?.secretName],
  ];
  return needed
    .filter(([, source, name]) => source !== undefined && (name === undefined || name === ''))
    .map(([name]) => cause(`${field}.${name}`, `${field}.${name} is a required field`, { wayOut: 'set it' }));
}

/** What cannot be had, in KubeVirt's words where it has some. */
const unavailable: Readonly<Record<string, readonly [text: string, wayOut: string]>> = {
  // Whoever may make a machine could read and write every file of the host.
  hostDisk: [
    'HostDisk feature gate is not enabled',
    'import the file as an image and use a volume made from it',
  ],
  ephemeral: ['volumes that forget what is written are not available', 'use a claim, or an emptyDisk'],
  serviceAccount: [
    'tokens of service accounts are not put on disks',
    'make a Secret of type kubernetes.io/service-account-token and use that',
  ],
  downwardMetrics: [
    'downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled.',
    'read the metrics from outside',
  ],
  memoryDump: ['the memory of a machine cannot be dumped', 'remove the volume'],
};

function availabilityCauses(volume: VolumeSpec, field: string): readonly StatusCause[] {
  const given: Readonly<Record<string, unknown>> = { ...volume };
  return Object.entries(unavailable)
    .filter(([source]) => given[source] !== undefined && given[source] !== null)
    .map(([source, [text, wayOut]]) => cause(`${field}.${source}`, text, { wayOut }));
}

function cloudInitCauses(source: CloudInitSource | undefined, field: string): readonly StatusCause[] {
  if (!source) return [];
  const user = dataOf(source.userData, source.userDataBase64, source.secretRef?.name);
  const network = dataOf(source.networkData, source.networkDataBase64, source.networkDataSecretRef?.name);
  const causes = [
    ...dataCauses(user, field, { name: 'userdata', secret: 'secretRef', several: 'only one userdatasource' }),
    ...dataCauses(network, field, {
      name: 'networkdata',
      secret: 'networkDataSecretRef',
      several: 'only one networkdata source',
    }),
  ];
  if (user.count + network.count > 0) return causes;
  const text = `${field} must have at least one userdatasource or one networkdatasource set.`;
  return [...causes, cause(field, text, { wayOut: 'set userData, or remove the volume and its disk' })];
}

interface InlineData {
  readonly count: number;
  readonly bytes: number;
  readonly isReadable: boolean;
}

function dataOf(text = '', base64 = '', secret = ''): InlineData {
  const isReadable = /^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0;
  const bytes = text === '' ? Buffer.byteLength(base64, 'base64') : Buffer.byteLength(text);
  return { count: [text, base64, secret].filter((value) => value !== '').length, bytes, isReadable };
}

function dataCauses(
  { count, bytes, isReadable }: InlineData,
  field: string,
  words: { readonly name: string; readonly secret: string; readonly several: string },
): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  if (!isReadable) {
    const place = `${field}.${words.name === 'userdata' ? 'userDataBase64' : 'networkDataBase64'}`;
    causes.push(
      cause(place, `${place} is not a valid base64 value.`, { wayOut: 'encode it again, in one line' }),
    );
  }
  if (count > 1)
    causes.push(cause(field, `${field} must have ${words.several} set.`, { wayOut: 'keep one of them' }));
  if (bytes > maxInlineBytes) {
    const text = `${field} ${words.name} exceeds ${maxInlineBytes} byte limit.`;
    causes.push(cause(field, text, { wayOut: `put it into a Secret and name that in ${words.secret}` }));
  }
  return causes;
}
