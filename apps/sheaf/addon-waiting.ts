import type { KubeObject, Waiting } from '@sheaf/api';
import { conditionOf, told } from './condition-words.ts';
import { at, textAt } from './connect.ts';

const doings: Readonly<Record<string, string>> = {
  AddonEnabling: 'is being switched on',
  AddonDeploySuccessful: 'is on',
  AddonUpdating: 'is being changed',
  AddonDisabling: 'is being switched off',
  AddonDisabled: 'is off',
};

/** Why an add-on is not as its switch says. */
export function addonWaiting(addon: KubeObject): Waiting | undefined {
  const state = textAt(addon, 'status', 'status');
  const doing = doings[state] ?? 'has not been looked at yet';
  for (const type of ['OperationFailed', 'InProgress']) {
    const condition = conditionOf(addon, type);
    if (textAt(condition, 'status') === 'True') return told(condition, doing);
  }
  if (state === (isEnabled(addon) ? 'AddonDeploySuccessful' : 'AddonDisabled')) return undefined;
  const wish = isEnabled(addon) ? 'on' : 'off';
  return { reason: 'NotObserved', nature: 'transient', text: `is to be ${wish}, and ${doing}` };
}

export function isEnabled(addon: KubeObject): boolean {
  return at(addon, 'spec', 'enabled') === true;
}

/** Why the release of a chart is not there. */
export function chartWaiting(chart: KubeObject): Waiting | undefined {
  const deployed = conditionOf(chart, 'Deployed');
  if (textAt(deployed, 'status') === 'True' || isOfOthers(chart)) return undefined;
  if (deployed === undefined)
    return { reason: 'NotObserved', nature: 'transient', text: 'has not been looked at yet' };
  const reason = textAt(deployed, 'reason');
  const place = textAt(deployed, 'message');
  if (reason === 'Installing')
    return { reason, nature: 'transient', text: `is being installed ${place}`.trim() };
  return told(deployed, 'is not deployed');
}

function isOfOthers({ metadata: { annotations = {} } }: KubeObject): boolean {
  const manager = annotations['helmcharts.cattle.io/managed-by'];
  const isLeftAlone = 'helmcharts.helm.cattle.io/unmanaged' in annotations;
  return isLeftAlone || (manager !== undefined && manager !== 'helm-controller');
}

/** An upgrade that nobody carries out. */
export function upgradeWaiting(upgrade: KubeObject): Waiting | undefined {
  const completed = conditionOf(upgrade, 'Completed');
  if (textAt(completed, 'status') === 'True') return undefined;
  if (completed === undefined)
    return { reason: 'NotObserved', nature: 'transient', text: 'has not been looked at yet' };
  return told(completed, 'is not completed');
}
