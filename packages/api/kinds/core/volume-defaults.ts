import type { JsonObject } from '@sheaf/base';
import { fieldsAt, fill, fillText, listAt, objectAt, textAt } from '../fields.ts';
import { defaultPullPolicy } from '../image-tag.ts';
import { roundRequirements } from '../resource-list.ts';

const defaultMode = 0o644;

export function defaultVolume(volume: JsonObject): void {
  let hasSource = false;
  for (const source in volume) {
    const value = objectAt(volume, source);
    if (value === undefined) continue;
    hasSource = true;
    defaultSource(source, value);
  }
  if (!hasSource) volume['emptyDir'] = {};
}

/** What each kind of volume source fills in; sources that are not named have no defaults. */
const sourceDefaults: Readonly<Record<string, (source: JsonObject) => void>> = {
  hostPath: (source) => fill(source, 'type', ''),
  secret: (source) => fill(source, 'defaultMode', defaultMode),
  configMap: (source) => fill(source, 'defaultMode', defaultMode),
  downwardAPI(source) {
    fill(source, 'defaultMode', defaultMode);
    defaultFieldRefs(source);
  },
  projected: defaultProjected,
  image: (source) => fillText(source, 'pullPolicy', defaultPullPolicy(textAt(source, 'reference'))),
  iscsi: (source) => fillText(source, 'iscsiInterface', 'default'),
  rbd: defaultRbd,
  scaleIO: defaultScaleIo,
  azureDisk: defaultAzureDisk,
  ephemeral(source) {
    const template = objectAt(source, 'volumeClaimTemplate');
    const spec = template && objectAt(template, 'spec');
    if (spec !== undefined) defaultClaimSpec(spec);
  },
};

function defaultSource(name: string, source: JsonObject): void {
  if (Object.hasOwn(sourceDefaults, name)) sourceDefaults[name]?.(source);
}

/** The same sources in a PersistentVolume's spec. */
export function defaultPersistentSource(spec: JsonObject): void {
  for (const name of ['hostPath', 'iscsi', 'rbd', 'scaleIO', 'azureDisk']) {
    const source = objectAt(spec, name);
    if (source !== undefined) defaultSource(name, source);
  }
}

function defaultProjected(source: JsonObject): void {
  fill(source, 'defaultMode', defaultMode);
  for (const part of listAt(source, 'sources')) {
    const token = objectAt(part, 'serviceAccountToken');
    if (token !== undefined) fill(token, 'expirationSeconds', 3600);
    defaultFieldRefs(fieldsAt(part, 'downwardAPI'));
  }
}

function defaultFieldRefs(downward: JsonObject): void {
  for (const item of listAt(downward, 'items')) {
    const reference = objectAt(item, 'fieldRef');
    if (reference !== undefined) fillText(reference, 'apiVersion', 'v1');
  }
}

function defaultRbd(source: JsonObject): void {
  fillText(source, 'pool', 'rbd');
  fillText(source, 'user', 'admin');
  fillText(source, 'keyring', '/etc/ceph/keyring');
}

function defaultScaleIo(source: JsonObject): void {
  fillText(source, 'storageMode', 'ThinProvisioned');
  fillText(source, 'fsType', 'xfs');
}

function defaultAzureDisk(source: JsonObject): void {
  fill(source, 'cachingMode', 'ReadWrite');
  fill(source, 'fsType', 'ext4');
  fill(source, 'readOnly', false);
  fill(source, 'kind', 'Shared');
}

export function defaultClaimSpec(spec: JsonObject): void {
  fill(spec, 'volumeMode', 'Filesystem');
  roundRequirements(fieldsAt(spec, 'resources'));
}
