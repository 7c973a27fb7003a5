import { type KubeObject, type LabelSelector, labelMatcherOf, matchesLabels } from '@sheaf/api';
import { keyOf, type ObjectCache } from '@sheaf/runtime';
import { controllerOf } from './ownership.ts';

type Selecting = KubeObject & { readonly spec: { readonly selector?: LabelSelector } };

/** Whom a change of an object concerns: its controller; without one, all who would adopt it. */
export function controllerKeys<T extends Selecting>(
  object: KubeObject,
  { kind, owners }: { readonly kind: string; readonly owners: ObjectCache<T> },
): readonly string[] {
  const { namespace = '', labels = {} } = object.metadata;
  const controller = controllerOf(object);
  if (controller) return controller.kind === kind ? [`${namespace}/${controller.name}`] : [];
  return owners
    .list(namespace)
    .filter(({ spec }) => matchesLabels(labelMatcherOf(spec.selector), labels))
    .map(keyOf);
}
