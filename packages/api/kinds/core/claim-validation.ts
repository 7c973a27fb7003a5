import { compareQuantities, type JsonObject, jsonEqual, parseQuantity } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123SubdomainErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { changedFields } from '../changed-fields.ts';
import { checkEnum, checkOptionalEnum, type Errors, immutableField, pushInvalid } from '../checks.ts';
import { fieldsAt, mapAt, objectAt, sortedFields, specOf, textAt, textsAt } from '../fields.ts';
import { checkAccessModes, checkClaimSpec, checkStorage, volumeModes } from './claim-spec-checks.ts';
import { checkNodeSelector } from './scheduling-checks.ts';
import { checkHostPath, checkIscsi, checkNfs } from './volume-checks.ts';

export function validateClaim(claim: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  checkClaimSpec(errors, 'spec', specOf(claim));
  return errors;
}

const claimDetail =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const storageField = 'spec.resources.requests.storage';

export function validateClaimUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: Errors = [...validateClaim(next)];
  const kept: JsonObject = { ...specOf(old) };
  const given: JsonObject = { ...specOf(next) };
  // Binding names the volume, and a class may be chosen where none was.
  if (!textAt(kept, 'volumeName')) copyField(kept, given, 'volumeName');
  if (kept['storageClassName'] === undefined) copyField(kept, given, 'storageClassName');
  if (textAt(fieldsAt(asJson(old), 'status'), 'phase') === 'Bound') {
    copyField(kept, given, 'resources');
    copyField(kept, given, 'volumeAttributesClassName');
  }
  if (!jsonEqual(given, kept))
    errors.push(forbiddenField('spec', `${claimDetail}\n${changedFields('spec', given, kept)}`));
  if (isShrunk(next, old))
    errors.push(forbiddenField(storageField, 'field can not be less than status.capacity'));
  return [...errors, ...immutableField('volumeMode', specOf(next)['volumeMode'], specOf(old)['volumeMode'])];
}

function copyField(to: JsonObject, from: JsonObject, name: string): void {
  if (from[name] === undefined) delete to[name];
  else to[name] = from[name];
}

function requestedStorage(claim: KubeObject): string {
  return mapAt(fieldsAt(specOf(claim), 'resources'), 'requests')['storage'] ?? '0';
}

/** Less than before, and no more than the volume has: an expansion that failed may be asked for anew. */
function isShrunk(next: KubeObject, old: KubeObject): boolean {
  const [wanted, before] = [parseQuantity(requestedStorage(next)), parseQuantity(requestedStorage(old))];
  const capacity = mapAt(fieldsAt(asJson(old), 'status'), 'capacity')['storage'] ?? '0';
  return compareQuantities(wanted, before) < 0 && compareQuantities(wanted, parseQuantity(capacity)) <= 0;
}

export function validateClaimStatusUpdate(next: KubeObject, _old: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const status = fieldsAt(asJson(next), 'status');
  for (const [name, amount] of Object.entries(mapAt(status, 'capacity')))
    if (amount.startsWith('-'))
      errors.push(invalid(`status.capacity[${name}]`, amount, 'must be greater than or equal to 0'));
  return errors;
}

const sources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
];

export function validateVolume(volume: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(volume);
  checkModes(errors, textsAt(spec, 'accessModes'));
  checkCapacity(errors, fieldsAt(spec, 'capacity'));
  checkReclaim(errors, textAt(spec, 'persistentVolumeReclaimPolicy'));
  checkAffinity(errors, spec);
  checkSource(errors, spec);
  if (
    textAt(fieldsAt(spec, 'hostPath'), 'path') === '/' &&
    spec['persistentVolumeReclaimPolicy'] === 'Recycle'
  )
    errors.push(
      forbiddenField(
        'spec.persistentVolumeReclaimPolicy',
        "may not be 'recycle' for a hostPath mount of '/'",
      ),
    );
  const storageClass = textAt(spec, 'storageClassName');
  if (storageClass !== '')
    pushInvalid(
      errors,
      { field: 'spec.storageClassName', value: storageClass },
      dns1123SubdomainErrors(storageClass),
    );
  checkOptionalEnum(errors, { field: 'spec.volumeMode', value: spec['volumeMode'] }, volumeModes);
  return errors;
}

function checkModes(errors: Errors, modes: readonly string[]): void {
  if (modes.length === 0) errors.push(required('spec.accessModes'));
  checkAccessModes(errors, 'spec.accessModes', modes);
}

function checkCapacity(errors: Errors, capacity: JsonObject): void {
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(required('spec.capacity'));
  if (names.length !== 1 || capacity['storage'] === undefined)
    errors.push(notSupported('spec.capacity', sortedFields(capacity), ['storage']));
  for (const name of names.sort()) {
    if (name === 'storage') checkStorage(errors, 'spec.capacity[storage]', textAt(capacity, name));
  }
}

function checkReclaim(errors: Errors, policy: string): void {
  if (policy === '') return;
  checkEnum(errors, { field: 'spec.persistentVolumeReclaimPolicy', value: policy }, [
    'Delete',
    'Recycle',
    'Retain',
  ]);
}

function checkAffinity(errors: Errors, spec: JsonObject): void {
  const affinity = objectAt(spec, 'nodeAffinity');
  if (affinity === undefined) return;
  const selector = objectAt(affinity, 'required');
  if (selector === undefined)
    errors.push(required('spec.nodeAffinity.required', 'must specify required node constraints'));
  else checkNodeSelector(errors, 'spec.nodeAffinity.required', selector);
}

function checkSource(errors: Errors, spec: JsonObject): void {
  let count = 0;
  for (const name of sources) {
    const source = objectAt(spec, name);
    if (source === undefined) continue;
    count++;
    if (count === 1) checkOneSource(errors, { name, source, spec });
    else errors.push(forbiddenField(`spec.${name}`, 'may not specify more than 1 volume type'));
  }
  if (count === 0) errors.push(required('spec', 'must specify a volume type'));
}

function checkOneSource(
  errors: Errors,
  { name, source, spec }: { name: string; source: JsonObject; spec: JsonObject },
): void {
  const field = `spec.${name}`;
  if (name === 'hostPath') checkHostPath(errors, field, source);
  else if (name === 'nfs') checkNfs(errors, field, source);
  else if (name === 'iscsi') checkIscsi(errors, field, source);
  else if (name === 'csi') {
    for (const wanted of ['driver', 'volumeHandle'])
      if (textAt(source, wanted) === '') errors.push(required(`${field}.${wanted}`));
  } else if (name === 'local') {
    if (textAt(source, 'path') === '') errors.push(required(`${field}.path`));
    if (objectAt(spec, 'nodeAffinity') === undefined)
      errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
  }
}

/** Where the data lie does not change. */
export function validateVolumeUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: Errors = [...validateVolume(next)];
  const [given, kept] = [specOf(next), specOf(old)];
  const changed = sources.filter((name) => !jsonEqual(given[name], kept[name]));
  if (changed.length > 0)
    errors.push(
      forbiddenField(
        'spec.persistentvolumesource',
        `spec.persistentvolumesource is immutable after creation\n${changed.map((name) => `spec.${name}`).join('\n')}`,
      ),
    );
  errors.push(...immutableField('volumeMode', given['volumeMode'], kept['volumeMode']));
  if (kept['nodeAffinity'] !== undefined)
    errors.push(...immutableField('spec.nodeAffinity', given['nodeAffinity'], kept['nodeAffinity']));
  return errors;
}
