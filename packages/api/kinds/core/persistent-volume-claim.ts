import type { JsonObject } from '@sheaf/base';
import { jsonClone } from '@sheaf/base';
import { asJson } from '../../meta/object.ts';
import { ensureAt, ensureSpec, fillText, objectAt, textAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { roundResources } from '../resource-list.ts';
import { validateClaim, validateClaimStatusUpdate, validateClaimUpdate } from './claim-validation.ts';
import { defaultClaimSpec } from './volume-defaults.ts';

export const persistentVolumeClaimRules: KindRules = {
  applyDefaults: (claim) => defaultClaim(asJson(claim)),
  prepareForCreate: (claim) => alignSources(ensureSpec(claim)),
  prepareForUpdate: (next) => alignSources(ensureSpec(next)),
  validateCreate: validateClaim,
  validateUpdate: validateClaimUpdate,
  validateStatusUpdate: validateClaimStatusUpdate,
  selectableFields: (claim) => ({ name: claim.metadata.name ?? '' }),
};

/** A claim, or a template of one in a StatefulSet. */
export function defaultClaim(claim: JsonObject): void {
  defaultClaimSpec(ensureAt(claim, 'spec'));
  const status = ensureAt(claim, 'status');
  fillText(status, 'phase', 'Pending');
  roundResources(status, 'capacity', 'allocatedResources');
}

const snapshotGroup = 'snapshot.storage.k8s.io';

/** The older and the newer field for the source of the data say the same. */
function alignSources(spec: JsonObject): void {
  const source = objectAt(spec, 'dataSource');
  const reference = objectAt(spec, 'dataSourceRef');
  if (source !== undefined && reference === undefined) {
    if (isKnownSource(source)) spec['dataSourceRef'] = jsonClone(source);
    else delete spec['dataSource'];
  } else if (source === undefined && reference !== undefined && !textAt(reference, 'namespace')) {
    spec['dataSource'] = jsonClone(reference);
  }
}

function isKnownSource(source: JsonObject): boolean {
  const [group, kind] = [textAt(source, 'apiGroup'), textAt(source, 'kind')];
  if (kind === 'PersistentVolumeClaim') return group === '';
  return kind === 'VolumeSnapshot' && group === snapshotGroup;
}
