import type { FieldError } from '../../meta/field-error.ts';
import { forbiddenField } from '../../meta/field-error.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { ensureAt, fieldsAt, fill, listAt, objectAt, textAt } from '../fields.ts';

/** The single address is the first of the list; either stands for both. */
export function mergePodStatus(pod: KubeObject): void {
  const status = objectAt(asJson(pod), 'status');
  if (status === undefined) return;
  alignAddress(pod, ['podIP', 'podIPs']);
  alignAddress(pod, ['hostIP', 'hostIPs']);
}

function alignAddress(pod: KubeObject, [one, many]: readonly [string, string]): void {
  const status = ensureAt(asJson(pod), 'status');
  const first = listAt(status, many)[0];
  if (first !== undefined) fill(status, one, textAt(first, 'ip'));
  else if (textAt(status, one) !== '') status[many] = [{ ip: textAt(status, one) }];
}

const final = new Set(['Succeeded', 'Failed']);

/** A container that ended for good does not run again. */
export function validatePodStatusUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [status, kept] = [fieldsAt(asJson(next), 'status'), fieldsAt(asJson(old), 'status')];
  const node = textAt(status, 'nominatedNodeName');
  if (node === '' || !final.has(textAt(kept, 'phase')) || node === textAt(kept, 'nominatedNodeName'))
    return [];
  return [forbiddenField('status.nominatedNodeName', 'may not be set once the pod has ended')];
}
