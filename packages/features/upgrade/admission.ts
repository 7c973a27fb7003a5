import { type AdmissionRule, allow, deny } from '@sheaf/api';
import type { Upgrade } from '@sheaf/api/virtualization/index';
import { resourcesOfChecks } from './obstacle.ts';
import { planGate } from './plan.ts';

/** No upgrade begins while something stands in its way; whatever that is is named, with what clears it. */
export const upgradeRule: AdmissionRule = {
  name: 'upgrade',
  targets: [resourcesOfChecks.upgrades],
  operations: ['CREATE'],
  reads: Object.values(resourcesOfChecks),
  validate(object, _, { objects }) {
    const obstacle = planGate({ upgrade: object as Upgrade, objects });
    if (obstacle) return deny(obstacle);
    return allow('an upgrade is checked, and not carried out yet: it stays as it is');
  },
};
