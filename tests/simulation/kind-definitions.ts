import type { KubeObject } from '@sheaf/api';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/index';
import type { ResourceRef } from '@sheaf/client';

/**
 * The definitions that Sheaf brings along, without their schemas: with subresources and scopes as they are, while every field is
 * let in. What schemas refuse and prune is tested elsewhere, and takes most of the time here.
 */
export function definitionsOf(kinds: readonly ResourceRef[]): readonly KubeObject[] {
  return customResourceDefinitions(
    kindDefinitions().filter(({ name }) => kinds.some(({ plural, group }) => name === `${plural}.${group}`)),
  ).map(withoutSchemas);
}

interface Version {
  readonly name: string;
  readonly schema: unknown;
}

function withoutSchemas(definition: KubeObject): KubeObject {
  const spec = definition['spec'] as { readonly versions: readonly Version[] };
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  const versions = spec.versions.map((version) => ({ ...version, schema }));
  return { ...definition, spec: { ...spec, versions } };
}
