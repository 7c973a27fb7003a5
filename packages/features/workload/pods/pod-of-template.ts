import type { OwnerReference } from '@sheaf/api';
import type { Pod, PodTemplateSpec } from '@sheaf/api/workload/index';

export interface PodName {
  readonly namespace: string;
  /** The server completes it, and cuts it where it is too long. */
  readonly generateName?: string;
  readonly name?: string;
}

/** A pod as its controller makes it from a template. */
export function podOfTemplate(template: PodTemplateSpec, place: PodName, owner: OwnerReference): Pod {
  const { labels = {}, annotations = {}, finalizers = [] } = template.metadata ?? {};
  return {
    metadata: {
      ...place,
      labels: { ...labels },
      annotations: { ...annotations },
      ...(finalizers.length > 0 && { finalizers: [...finalizers] }),
      ownerReferences: [owner],
    },
    spec: template.spec,
  };
}
