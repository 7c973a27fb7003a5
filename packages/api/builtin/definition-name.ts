const packages: Readonly<Record<string, string>> = {
  'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1',
  'apiextensions/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  'apiregistration/v1': 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
};

/** The OpenAPI definition of a type: `core/v1.Pod` is `io.k8s.api.core.v1.Pod`. */
export function definitionName(type: string): string {
  const dot = type.indexOf('.');
  const key = type.slice(0, dot);
  return `${packages[key] ?? `io.k8s.api.${key.replace('/', '.')}`}${type.slice(dot)}`;
}

/** The inverse of `definitionName` for a package prefix, e.g. `io.k8s.api.core.v1` is `core/v1`. */
export function packageOfDefinition(name: string): string {
  const prefix = name.slice(0, name.lastIndexOf('.'));
  for (const key in packages) if (packages[key] === prefix) return key;
  if (!prefix.startsWith('io.k8s.api.')) return 'meta/v1';
  return prefix.slice('io.k8s.api.'.length).replace('.', '/');
}
