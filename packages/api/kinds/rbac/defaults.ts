import { asJson, type KubeObject } from '../../meta/object.ts';
import { ensureAt, fillText, listAt } from '../fields.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

export function defaultBinding(binding: KubeObject): void {
  const fields = asJson(binding);
  fillText(ensureAt(fields, 'roleRef'), 'apiGroup', rbacGroup);
  for (const subject of listAt(fields, 'subjects')) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') fillText(subject, 'apiGroup', rbacGroup);
  }
}
