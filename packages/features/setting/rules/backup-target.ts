import type { AdmissionObjects, KubeObject } from '@sheaf/api';
import {
  booleanField,
  effectiveText,
  integerField,
  jsonObjectOf,
  SettingProblem,
  stringField,
} from '@sheaf/api/setting/index';
import type { Setting, VirtualMachineBackup, VirtualMachineRestore } from '@sheaf/api/virtualization/index';
import { listed } from './machine-usage.ts';
import { ClusterProblem, type ClusterRule } from './rule.ts';

/** Where backups go. */
interface BackupTarget {
  readonly type: string;
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucketName: string;
  readonly bucketRegion: string;
  readonly virtualHostedStyle: boolean;
}

/** The form alone; which fields go together is a matter of what stands there already. */
export function backupTarget(text: string): BackupTarget {
  const object = jsonObjectOf(text);
  stringField(object, 'cert');
  if (integerField(object, 'refreshIntervalInSeconds') < 0)
    throw new SettingProblem('refreshIntervalInSeconds is negative', 'Write 0 or more.');
  return {
    type: stringField(object, 'type'),
    endpoint: stringField(object, 'endpoint'),
    accessKeyId: stringField(object, 'accessKeyId'),
    secretAccessKey: stringField(object, 'secretAccessKey'),
    bucketName: stringField(object, 'bucketName'),
    bucketRegion: stringField(object, 'bucketRegion'),
    virtualHostedStyle: booleanField(object, 'virtualHostedStyle'),
  };
}

export const backupTargetChange: ClusterRule = ({ setting, old, objects }) => {
  if (!setting.value) return;
  const target = backupTarget(setting.value);
  if (old && isWithoutKeys(target, old)) return;
  refuseWhileInUse(objects);
  if (!isReset(target)) checkFields(target);
};

/** The keys are taken out of the value once they are kept elsewhere: the same target without them is no change. */
function isWithoutKeys(target: BackupTarget, old: Setting): boolean {
  if (target.type !== 's3' || target.accessKeyId !== '' || target.secretAccessKey !== '') return false;
  const text = effectiveText(old);
  if (text === '') return false;
  const { accessKeyId: _, secretAccessKey: __, ...stored } = backupTarget(text);
  return Object.entries(stored).every(([field, value]) => target[field as keyof BackupTarget] === value);
}

function isReset(target: BackupTarget): boolean {
  return Object.values(target).every((value) => value === '' || value === false);
}

function checkFields(target: BackupTarget): void {
  const { type, endpoint, accessKeyId, secretAccessKey, bucketName, bucketRegion } = target;
  const hasAnyOf = (...values: readonly string[]): boolean => values.some((value) => value !== '');
  const wrong =
    type === 's3'
      ? [accessKeyId, secretAccessKey, bucketName, bucketRegion].includes('') &&
        'Give accessKeyId, secretAccessKey, bucketName and bucketRegion for the type s3.'
      : type === 'nfs'
        ? (endpoint === '' || hasAnyOf(accessKeyId, secretAccessKey, bucketName, bucketRegion)) &&
          'Give an endpoint such as nfs://HOST:/PATH, and neither keys nor bucket, for the type nfs.'
        : 'Set type to s3 or nfs, or clear the value to have no target.';
  if (wrong) throw new SettingProblem('the target is not complete', wrong);
}

function refuseWhileInUse(objects: AdmissionObjects): void {
  const backups = objects.list({ group: 'harvesterhci.io', resource: 'virtualmachinebackups' });
  const open = backups.filter(
    (backup) => !(backup as VirtualMachineBackup).status?.readyToUse || isGoing(backup),
  );
  if (open.length > 0)
    throw new ClusterProblem(
      'BadRequest',
      `backups are being made or deleted: ${listed(open.map(nameOf))}`,
      'Wait until they are ready or gone, or delete them, and try again.',
    );
  const restores = objects.list({ group: 'harvesterhci.io', resource: 'virtualmachinerestores' });
  const under = restores.filter((each) => !(each as VirtualMachineRestore).status?.complete || isGoing(each));
  if (under.length > 0)
    throw new ClusterProblem(
      'BadRequest',
      `backups are being restored: ${listed(under.map(nameOf))}`,
      'Wait until they are complete, or delete the restores, and try again.',
    );
}

function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}
