import type { Pod } from '@sheaf/api/workload/index';

/** Names of the ConfigMaps and Secrets that a pod reads. */
export interface PodReferences {
  readonly configMaps: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
}

export function referencesOf({ spec }: Pod): PodReferences {
  const volumes = spec.volumes ?? [];
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const containers = [...initContainers, ...spec.containers, ...ephemeralContainers];
  const variables = containers.flatMap(({ env = [] }) => env).map(({ valueFrom }) => valueFrom);
  const whole = containers.flatMap(({ envFrom = [] }) => envFrom);
  return {
    configMaps: named([
      ...volumes.map(({ configMap }) => configMap?.name),
      ...sources.map(({ configMap }) => configMap?.name),
      ...variables.map((from) => from?.configMapKeyRef?.name),
      ...whole.map(({ configMapRef }) => configMapRef?.name),
    ]),
    secrets: named([
      ...volumes.map(({ secret }) => secret?.secretName),
      ...sources.map(({ secret }) => secret?.name),
      ...variables.map((from) => from?.secretKeyRef?.name),
      ...whole.map(({ secretRef }) => secretRef?.name),
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ]),
  };
}

function named(names: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[]);
}
