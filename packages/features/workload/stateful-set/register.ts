import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import type { PodWording } from '../pods/owned-pods.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
import { registerRevisioned } from '../pods/revisioned-register.ts';
import { reconcileStatefulSet } from './reconcile.ts';

/** Its pods have names that users know. */
const wording: PodWording = (deed, { pod, owner }, problem) => {
  const verb = deed === 'create' ? 'Create' : 'Delete';
  const outcome = problem === undefined ? 'successful' : `failed error: ${problem}`;
  return `${verb} Pod ${pod} in StatefulSet ${owner} ${outcome}`;
};

const kind = {
  wording,
  name: 'stateful-set',
  component: 'statefulset-controller',
  resource: resources.statefulSets,
  concurrency: 4,
  hashLabel: 'controller.kubernetes.io/hash',
};

/** Keeps pods that have a name and volumes of their own, one after the other. */
export function register(manager: Manager): void {
  const claims = manager.informer(resources.persistentVolumeClaims);
  const { clock } = manager;
  const { controller, sets } = registerRevisioned(manager, kind, (parts, key, signal) =>
    reconcileStatefulSet({ ...parts, clock, claims: claims.cache }, key, signal),
  );
  const mine = { kind: 'StatefulSet', owners: sets.cache };
  controller.watchMapped(claims, (claim) => controllerKeys(claim, mine));
}
