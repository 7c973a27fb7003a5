import type { JsonObject } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';
import { defaultClaim } from '../core/persistent-volume-claim.ts';
import { defaultTemplate } from '../core/pod-defaults.ts';
import { ensureAt, ensureSpec, fill, fillText, listAt, objectAt } from '../fields.ts';

export function defaultDeployment(deployment: KubeObject): void {
  const spec = ensureSpec(deployment);
  fill(spec, 'replicas', 1);
  const strategy = ensureAt(spec, 'strategy');
  fillText(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = ensureAt(strategy, 'rollingUpdate');
    fill(rolling, 'maxUnavailable', '25%');
    fill(rolling, 'maxSurge', '25%');
  }
  fill(spec, 'revisionHistoryLimit', 10);
  fill(spec, 'progressDeadlineSeconds', 600);
  defaultTemplate(spec);
}

export function defaultReplicaSet(replicaSet: KubeObject): void {
  const spec = ensureSpec(replicaSet);
  fill(spec, 'replicas', 1);
  defaultTemplate(spec);
}

export function defaultDaemonSet(daemonSet: KubeObject): void {
  const spec = ensureSpec(daemonSet);
  const strategy = ensureAt(spec, 'updateStrategy');
  fillText(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = ensureAt(strategy, 'rollingUpdate');
    fill(rolling, 'maxUnavailable', 1);
    fill(rolling, 'maxSurge', 0);
  }
  fill(spec, 'revisionHistoryLimit', 10);
  defaultTemplate(spec);
}

export function defaultStatefulSet(statefulSet: KubeObject): void {
  const spec = ensureSpec(statefulSet);
  fillText(spec, 'podManagementPolicy', 'OrderedReady');
  defaultStatefulStrategy(ensureAt(spec, 'updateStrategy'));
  const retention = ensureAt(spec, 'persistentVolumeClaimRetentionPolicy');
  fillText(retention, 'whenDeleted', 'Retain');
  fillText(retention, 'whenScaled', 'Retain');
  fill(spec, 'replicas', 1);
  fill(spec, 'revisionHistoryLimit', 10);
  defaultTemplate(spec);
  for (const claim of listAt(spec, 'volumeClaimTemplates')) {
    fillText(claim, 'apiVersion', 'v1');
    fillText(claim, 'kind', 'PersistentVolumeClaim');
    defaultClaim(claim);
  }
}

function defaultStatefulStrategy(strategy: JsonObject): void {
  if (!strategy['type']) {
    strategy['type'] = 'RollingUpdate';
    fill(strategy, 'rollingUpdate', {});
  }
  const rolling = objectAt(strategy, 'rollingUpdate');
  if (strategy['type'] === 'RollingUpdate' && rolling !== undefined) fill(rolling, 'partition', 0);
}
