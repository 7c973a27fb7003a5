import type { KubeObject } from '@sheaf/api';
import { compareQuantities, parseQuantity } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { flagAt, objectAt, textAt } from './object-field.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { isFor, refusal } from './refusal.ts';

const finalizers: ReadonlyMap<string, string> = new Map([
  ['/persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['/persistentvolumes', 'kubernetes.io/pv-protection'],
  ['storage.k8s.io/volumeattributesclasses', 'kubernetes.io/vac-protection'],
]);

/** Volumes and claims are not taken away under those who use them. */
export function storageProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' &&
      subresource === '' &&
      finalizers.has(`${resource.group}/${resource.resource}`),
    mutate({ object, resource }) {
      const finalizer = finalizers.get(`${resource.group}/${resource.resource}`);
      if (!object || !finalizer || object.metadata.finalizers?.includes(finalizer)) return;
      object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
    },
  };
}

const claims = { group: '', resource: 'persistentvolumeclaims' };

/** Claims grow only if they are bound and their class allows it. */
export function claimResize(views: LiveViews): AdmissionPlugin {
  const classes = views.of('storage.k8s.io', 'storageclasses');
  return {
    name: 'PersistentVolumeClaimResize',
    handles: (request) => request.operation === 'UPDATE' && isFor(request, claims),
    validate(request) {
      const { object, oldObject } = request;
      if (!object || !oldObject || !grows(object, oldObject)) return;
      if (textAt(objectAt(oldObject, 'status'), 'phase') !== 'Bound')
        throw refusal(request, 'Only bound persistent volume claims can be expanded');
      if (allowsGrowth(object, oldObject, classes)) return;
      throw refusal(
        request,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}

function grows(next: KubeObject, old: KubeObject): boolean {
  return compareQuantities(parseQuantity(sizeOf(next)), parseQuantity(sizeOf(old))) > 0;
}

function sizeOf(claim: KubeObject): string {
  const requests = objectAt(objectAt(objectAt(claim, 'spec'), 'resources'), 'requests');
  return textAt(requests, 'storage') || '0';
}

function allowsGrowth(next: KubeObject, old: KubeObject, classes: LiveView): boolean {
  const name = classOf(next);
  if (name === '' || name !== classOf(old)) return false;
  return flagAt(classes.get('', name), 'allowVolumeExpansion') === true;
}

/** The class that a claim names, in whichever way. */
export function classOf(claim: KubeObject): string {
  const annotated = claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'];
  return annotated ?? textAt(objectAt(claim, 'spec'), 'storageClassName');
}
