import { asJson, type KubeObject } from '@sheaf/api';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { ensureObject, objectAt } from './object-field.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { isFor, type Target } from './refusal.ts';

interface ClassDefault {
  readonly name: string;
  readonly target: Target;
  readonly field: string;
  /** The older way to name a class: with it, nothing is filled in. */
  readonly annotation: string;
  /** Any of these, `"true"`, marks the default. */
  readonly marks: readonly string[];
}

/** Claims that name no storage class get the default one. */
export function defaultStorageClass(views: LiveViews): AdmissionPlugin {
  return classDefault(views.of('storage.k8s.io', 'storageclasses'), {
    name: 'DefaultStorageClass',
    target: { group: '', resource: 'persistentvolumeclaims' },
    field: 'storageClassName',
    annotation: 'volume.beta.kubernetes.io/storage-class',
    marks: [
      'storageclass.kubernetes.io/is-default-class',
      'storageclass.beta.kubernetes.io/is-default-class',
    ],
  });
}

/** Ingresses that name no class get the default one. */
export function defaultIngressClass(views: LiveViews): AdmissionPlugin {
  return classDefault(views.of('networking.k8s.io', 'ingressclasses'), {
    name: 'DefaultIngressClass',
    target: { group: 'networking.k8s.io', resource: 'ingresses' },
    field: 'ingressClassName',
    annotation: 'kubernetes.io/ingress.class',
    marks: ['ingressclass.kubernetes.io/is-default-class'],
  });
}

function classDefault(classes: LiveView, options: ClassDefault): AdmissionPlugin {
  const { name, target, field, annotation, marks } = options;
  return {
    name,
    handles: (request) => request.operation === 'CREATE' && isFor(request, target),
    mutate({ object }) {
      if (!object || objectAt(object, 'spec')[field] !== undefined) return;
      if (object.metadata.annotations && Object.hasOwn(object.metadata.annotations, annotation)) return;
      const found = findDefault(classes, marks);
      if (found) ensureObject(asJson(object), 'spec')[field] = found;
    },
  };
}

/** Of several the newest, then the first by name. */
function findDefault(classes: LiveView, marks: readonly string[]): string | undefined {
  const [first] = classes
    .list()
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === 'true'))
    .toSorted(byAge);
  return first?.metadata.name;
}

function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const [bornA, bornB] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (bornA !== bornB) return bornA > bornB ? -1 : 1;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}
