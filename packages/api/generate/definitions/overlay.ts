import { mapChildren, type SchemaNode, schemaAt } from './json-schema.ts';
import type { PublishedDefinition, PublishedVersion } from './published-definitions.ts';

type Definitions = ReadonlyMap<string, PublishedDefinition>;

interface Correction {
  readonly definition: string;
  readonly correct: (definition: PublishedDefinition, all: Definitions) => PublishedDefinition;
}

/** Where what is served differs from what is published. Each row is told in docs/architecture/kinds.md. */
const corrections: readonly Correction[] = [
  // The virtual machine inside is that of KubeVirt 1.7: a template or a backup would lose the fields that came later.
  {
    definition: 'virtualmachinetemplateversions.harvesterhci.io',
    correct: (definition, all) => withMachineAt(definition, ['spec', 'vm', 'spec'], all),
  },
  {
    definition: 'virtualmachinebackups.harvesterhci.io',
    correct: (definition, all) => withMachineAt(definition, ['status', 'source', 'spec'], all),
  },
  // The column names a field that does not exist, so that it is always empty.
  {
    definition: 'virtualmachinetemplateversions.harvesterhci.io',
    correct: (definition) => withColumn(definition, { name: 'TEMPLATE_ID', jsonPath: '.spec.templateId' }),
  },
  // Harvester 1.9 has it, and its page sends it; without it, it would be dropped and the machine would start.
  {
    definition: 'virtualmachinerestores.harvesterhci.io',
    correct: (definition) => withField(definition, ['spec', 'haltAfterRestore'], { type: 'boolean' }),
  },
  // kubectl would take the first of two kinds with this name, which is not the snapshot that is meant.
  {
    definition: 'vlanstatuses.network.harvesterhci.io',
    correct: (definition) => withoutShortName(definition, 'vs'),
  },
];

export function withOverlay(published: readonly PublishedDefinition[]): readonly PublishedDefinition[] {
  const all = new Map(published.map((definition) => [definition.metadata.name, definition]));
  for (const { definition, correct } of corrections) {
    const known = all.get(definition);
    if (!known) throw new Error(`the overlay has a row for ${definition}, which is not published`);
    const corrected = correct(known, all);
    if (JSON.stringify(corrected) === JSON.stringify(known))
      throw new Error(`the overlay changes nothing in ${definition}: take the row out`);
    all.set(definition, corrected);
  }
  return [...all.values()];
}

function withMachineAt(
  definition: PublishedDefinition,
  path: readonly string[],
  all: Definitions,
): PublishedDefinition {
  const machine = all.get('virtualmachines.kubevirt.io')?.spec.versions.find(({ storage }) => storage);
  const spec = schemaAt(machine?.schema.openAPIV3Schema, ['spec']);
  if (!spec) throw new Error('virtual machines have no spec');
  return withVersions(definition, (version) => ({
    ...version,
    schema: { openAPIV3Schema: replaced(version.schema.openAPIV3Schema, path, spec) },
  }));
}

function withColumn(
  definition: PublishedDefinition,
  column: { readonly name: string; readonly jsonPath: string },
): PublishedDefinition {
  return withVersions(definition, ({ additionalPrinterColumns: columns = [], ...version }) => ({
    ...version,
    additionalPrinterColumns: columns.map((old) => (old.name === column.name ? { ...old, ...column } : old)),
  }));
}

function withField(
  definition: PublishedDefinition,
  [parent, field]: readonly [string, string],
  schema: SchemaNode,
): PublishedDefinition {
  return withVersions(definition, (version) => {
    const root = version.schema.openAPIV3Schema;
    const node = schemaAt(root, [parent]);
    if (!node) throw new Error(`${definition.metadata.name} has no ${parent}`);
    const grown = { ...node, properties: { ...node.properties, [field]: schema } };
    return { ...version, schema: { openAPIV3Schema: replaced(root, [parent], grown) } };
  });
}

function withoutShortName({ metadata, spec }: PublishedDefinition, left: string): PublishedDefinition {
  const { shortNames = [], ...names } = spec.names;
  return {
    metadata,
    spec: { ...spec, names: { ...names, shortNames: shortNames.filter((name) => name !== left) } },
  };
}

function withVersions(
  { metadata, spec }: PublishedDefinition,
  change: (version: PublishedVersion) => PublishedVersion,
): PublishedDefinition {
  return { metadata, spec: { ...spec, versions: spec.versions.map(change) } };
}

function replaced(node: SchemaNode, path: readonly string[], by: SchemaNode): SchemaNode {
  const [name, ...rest] = path;
  if (name === undefined) return by;
  return mapChildren(node, (child, field) => (field === name ? replaced(child, rest, by) : child));
}
