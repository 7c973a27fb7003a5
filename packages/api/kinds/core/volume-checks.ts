import { type JsonObject, parseQuantity, quantitySign } from '@sheaf/base';
import { duplicate, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123LabelErrors } from '../../meta/names.ts';
import { type Errors, pushInvalid } from '../checks.ts';
import { listAt, numberAt, objectAt, textAt } from '../fields.ts';
import { checkClaimSpec } from './claim-spec-checks.ts';
import { checkFieldReference, checkResourceReference } from './environment-checks.ts';
import { checkLocalPath, checkNoBacksteps } from './path-checks.ts';

export function checkVolumes(
  errors: Errors,
  field: string,
  volumes: readonly JsonObject[],
): Map<string, JsonObject> {
  const byName = new Map<string, JsonObject>();
  for (const [index, volume] of volumes.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(volume, 'name');
    checkSources(errors, at, volume);
    const before = errors.length;
    if (name === '') errors.push(required(`${at}.name`));
    else pushInvalid(errors, { field: `${at}.name`, value: name }, dns1123LabelErrors(name));
    if (byName.has(name)) errors.push(duplicate(`${at}.name`, name));
    if (errors.length === before) byName.set(name, volume);
  }
  return byName;
}

type SourceCheck = (errors: Errors, field: string, source: JsonObject) => void;

/** In the order in which more than one source is noticed. */
const sources: readonly (readonly [string, SourceCheck])[] = [
  ['emptyDir', checkEmptyDir],
  ['hostPath', checkHostPath],
  ['gitRepo', needs('repository')],
  ['gcePersistentDisk', needs('pdName')],
  ['awsElasticBlockStore', needs('volumeID')],
  ['secret', (errors, field, source) => checkKeys(errors, field, { source, name: 'secretName' })],
  ['nfs', checkNfs],
  ['iscsi', checkIscsi],
  ['glusterfs', needs('endpoints', 'path')],
  ['flocker', () => undefined],
  ['rbd', needs('image')],
  ['cinder', needs('volumeID')],
  ['cephfs', () => undefined],
  ['quobyte', needs('registry', 'volume')],
  ['downwardAPI', checkDownward],
  ['fc', () => undefined],
  ['configMap', (errors, field, source) => checkKeys(errors, field, { source, name: 'name' })],
  ['persistentVolumeClaim', needs('claimName')],
  ['azureFile', needs('secretName', 'shareName')],
  ['flexVolume', needs('driver')],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', needs('diskName', 'diskURI')],
  ['storageos', () => undefined],
  ['scaleIO', needs('gateway', 'system', 'volumeName')],
  ['projected', checkProjected],
  ['csi', needs('driver')],
  ['ephemeral', checkEphemeral],
  ['image', needs('reference')],
];

function needs(...names: readonly string[]): SourceCheck {
  return (errors, field, source) => {
    for (const name of names) if (textAt(source, name) === '') errors.push(required(`${field}.${name}`));
  };
}

function checkSources(errors: Errors, field: string, volume: JsonObject): void {
  let count = 0;
  for (const [name, check] of sources) {
    const source = objectAt(volume, name);
    if (source === undefined) continue;
    count++;
    if (count === 1) check(errors, `${field}.${name}`, source);
    else errors.push(forbiddenField(`${field}.${name}`, 'may not specify more than 1 volume type'));
  }
  if (count === 0) errors.push(required(field, 'must specify a volume type'));
}

function checkEmptyDir(errors: Errors, field: string, source: JsonObject): void {
  const limit = textAt(source, 'sizeLimit');
  if (limit !== '' && quantitySign(parseQuantity(limit)) < 0)
    errors.push(forbiddenField(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'));
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function checkHostPath(errors: Errors, field: string, source: JsonObject): void {
  const path = textAt(source, 'path');
  if (path === '') return void errors.push(required(`${field}.path`));
  checkNoBacksteps(errors, `${field}.path`, path);
  const type = textAt(source, 'type');
  if (!hostPathTypes.includes(type)) errors.push(notSupported(`${field}.type`, type, hostPathTypes));
}

export function checkNfs(errors: Errors, field: string, source: JsonObject): void {
  const path = textAt(source, 'path');
  if (textAt(source, 'server') === '') errors.push(required(`${field}.server`));
  if (path === '') errors.push(required(`${field}.path`));
  else if (!path.startsWith('/')) errors.push(invalid(`${field}.path`, path, 'must be an absolute path'));
}

export function checkIscsi(errors: Errors, field: string, source: JsonObject): void {
  const name = textAt(source, 'iqn');
  if (textAt(source, 'targetPortal') === '') errors.push(required(`${field}.targetPortal`));
  if (name === '') errors.push(required(`${field}.iqn`));
  else if (!/^(iqn|eui|naa)/.test(name))
    errors.push(invalid(`${field}.iqn`, name, 'must be valid format starting with iqn, eui, or naa'));
  const lun = numberAt(source, 'lun') ?? 0;
  if (lun < 0 || lun > 255) errors.push(invalid(`${field}.lun`, lun, 'must be between 0 and 255, inclusive'));
}

const modeDetail = 'must be a number between 0 and 0777 (octal), both inclusive';

function checkMode(errors: Errors, field: string, mode: number | undefined): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) errors.push(invalid(field, mode, modeDetail));
}

/** Sources whose keys become files. */
function checkKeys(
  errors: Errors,
  field: string,
  { source, name }: { source: JsonObject; name: string },
): void {
  if (textAt(source, name) === '') errors.push(required(`${field}.${name}`));
  checkMode(errors, `${field}.defaultMode`, numberAt(source, 'defaultMode'));
  checkItems(errors, field, source);
}

function checkItems(errors: Errors, field: string, source: JsonObject): void {
  for (const [index, item] of listAt(source, 'items').entries()) {
    const at = `${field}.items[${index}]`;
    if (textAt(item, 'key') === '') errors.push(required(`${at}.key`));
    checkLocalPath(errors, `${at}.path`, textAt(item, 'path'));
    checkMode(errors, `${at}.mode`, numberAt(item, 'mode'));
  }
}

const downwardPaths = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

function checkDownward(errors: Errors, field: string, source: JsonObject): void {
  checkMode(errors, `${field}.defaultMode`, numberAt(source, 'defaultMode'));
  for (const item of listAt(source, 'items')) checkDownwardFile(errors, field, item);
}

function checkDownwardFile(errors: Errors, field: string, item: JsonObject): void {
  checkLocalPath(errors, `${field}.path`, textAt(item, 'path'));
  const [reference, resource] = [objectAt(item, 'fieldRef'), objectAt(item, 'resourceFieldRef')];
  if (reference !== undefined) {
    checkFieldReference(errors, `${field}.fieldRef`, { source: reference, supported: downwardPaths });
    if (resource !== undefined)
      errors.push(
        invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
      );
  } else if (resource !== undefined) {
    if (textAt(resource, 'containerName') === '')
      errors.push(required(`${field}.resourceFieldRef.containerName`));
    else checkResourceReference(errors, `${field}.resourceFieldRef`, resource);
  } else {
    errors.push(required(field, 'one of fieldRef and resourceFieldRef is required'));
  }
  checkMode(errors, `${field}.mode`, numberAt(item, 'mode'));
}

function checkProjected(errors: Errors, field: string, source: JsonObject): void {
  checkMode(errors, `${field}.defaultMode`, numberAt(source, 'defaultMode'));
  for (const [index, part] of listAt(source, 'sources').entries())
    checkProjection(errors, field, { part, at: `${field}.sources[${index}]` });
}

function checkProjection(
  errors: Errors,
  field: string,
  { part, at }: { part: JsonObject; at: string },
): void {
  let count = 0;
  for (const name of ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle']) {
    const source = objectAt(part, name);
    if (source === undefined) continue;
    count++;
    if (count > 1) errors.push(forbiddenField(at, 'may not specify more than 1 volume type per source'));
    else checkProjectedSource(errors, field, { source, at, name });
  }
}

function checkProjectedSource(
  errors: Errors,
  field: string,
  { source, at, name }: { source: JsonObject; at: string; name: string },
): void {
  if (name === 'secret' || name === 'configMap') {
    if (textAt(source, 'name') === '') errors.push(required(`${at}.${name}.name`));
    checkItems(errors, `${at}.${name}`, source);
  } else if (name === 'downwardAPI') {
    for (const item of listAt(source, 'items')) checkDownwardFile(errors, `${at}.downwardAPI`, item);
  } else if (name === 'serviceAccountToken') {
    checkToken(errors, field, { source, at });
  }
}

function checkToken(errors: Errors, field: string, { source, at }: { source: JsonObject; at: string }): void {
  const seconds = numberAt(source, 'expirationSeconds') ?? 3600;
  const expiration = `${at}.serviceAccountToken.expirationSeconds`;
  if (seconds < 600)
    errors.push(invalid(expiration, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32)
    errors.push(invalid(expiration, seconds, 'may not specify a duration larger than 2^32 seconds'));
  const path = textAt(source, 'path');
  if (path === '') errors.push(required(`${field}.path`));
  else checkLocalPath(errors, `${field}.path`, path);
}

function checkEphemeral(errors: Errors, field: string, source: JsonObject): void {
  const template = objectAt(source, 'volumeClaimTemplate');
  if (template === undefined) errors.push(required(`${field}.volumeClaimTemplate`));
  else checkClaimSpec(errors, `${field}.volumeClaimTemplate.spec`, objectAt(template, 'spec') ?? {});
}
