import type { CommittedDefinition, CommittedVersion } from '../../virtualization/expand-definition.ts';
import type { PublishedDefinition, PublishedVersion } from './published-definitions.ts';
import type { SharedSchemas } from './shared-schemas.ts';

/** Only what the server asks for; who generated the file is told elsewhere. */
const keptAnnotation = 'api-approved.kubernetes.io';

/**
 * A definition as it is committed, with its schemas among the shared ones: only versions that are served, without
 * conversion, and with the names that the server would add, so that what is stored is what is committed.
 */
export function committedDefinition(
  { metadata, spec }: PublishedDefinition,
  schemas: SharedSchemas,
): CommittedDefinition {
  const approval = metadata.annotations?.[keptAnnotation];
  const { kind } = spec.names;
  return {
    name: metadata.name,
    ...(metadata.labels ? { labels: metadata.labels } : {}),
    ...(approval === undefined ? {} : { annotations: { [keptAnnotation]: approval } }),
    spec: {
      group: spec.group,
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...spec.names },
      scope: spec.scope,
      versions: spec.versions
        .filter(({ served }) => served)
        .map((version) => committedVersion(version, `${kind}.${spec.group}/${version.name}`, schemas)),
      conversion: { strategy: 'None' },
    },
  };
}

function committedVersion(
  { schema, subresources, ...version }: PublishedVersion,
  component: string,
  schemas: SharedSchemas,
): CommittedVersion {
  const hasSubresources = Object.keys(subresources ?? {}).length > 0;
  const shared = schemas.addRoot(component, schema.openAPIV3Schema);
  return { ...version, schema: shared, ...(hasSubresources ? { subresources } : {}) };
}
