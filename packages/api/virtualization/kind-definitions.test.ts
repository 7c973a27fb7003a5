import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../meta/object.ts';
import { definitionDigest, expandDefinition } from './expand-definition.ts';
import { customResourceDefinitions, kindDefinitions, matchesDefinition } from './kind-definitions.ts';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly maxItems?: number;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

function schemaAt(crd: KubeObject | undefined, path: string): Schema | undefined {
  if (!crd) return undefined;
  const { versions } = crd['spec'] as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
  let schema = versions[0]?.schema.openAPIV3Schema;
  for (const field of path.split('.')) schema = (schema?.items ?? schema)?.properties?.[field];
  return schema;
}

describe('kind definitions', () => {
  const all = kindDefinitions();
  const crds = new Map(customResourceDefinitions(all).map((crd) => [crd.metadata.name, crd]));

  it('say what their digest says', () => {
    const wrong = all.filter((definition) => {
      const crd = crds.get(definition.name);
      return crd === undefined || !matchesDefinition(crd, definition);
    });
    assert.deepEqual(wrong, []);
  });

  it('store one version each and have no name twice in a group', () => {
    const names = all.flatMap(({ spec }) => {
      const { plural, singular, shortNames = [] } = spec.names;
      return [...new Set([plural, singular, shortNames].flat())].map(
        (name) => `${String(name)}.${spec.group}`,
      );
    });
    assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted());
    const stored = all.map(({ spec }) => spec.versions.filter(({ storage }) => storage).length);
    assert.deepEqual(new Set(stored), new Set([1]));
  });

  it('reach into the types of other sources', () => {
    const machine = crds.get('virtualmachines.kubevirt.io');
    assert.equal(schemaAt(machine, 'spec.template.spec.domain.cpu.cores')?.type, 'integer');
    assert.equal(
      schemaAt(machine, 'spec.dataVolumeTemplates.spec.storage.resources.requests')?.type,
      'object',
    );
    assert.equal(schemaAt(machine, 'spec.template.spec.affinity.nodeAffinity')?.type, 'object');
    const version = crds.get('virtualmachinetemplateversions.harvesterhci.io');
    assert.equal(schemaAt(version, 'spec.vm.spec.template.spec.domain.devices.disks')?.type, 'array');
  });

  it('have the limits, widths and enumerations of their originals', () => {
    const machine = crds.get('virtualmachines.kubevirt.io');
    const spec = 'spec.template.spec';
    assert.equal(schemaAt(machine, `${spec}.volumes`)?.maxItems, 256);
    assert.equal(schemaAt(machine, `${spec}.domain.cpu.cores`)?.format, 'int32');
    assert.equal(schemaAt(machine, 'status.conditions.lastProbeTime')?.nullable, true);
    assert.equal(schemaAt(machine, `${spec}.networks.multus.default`)?.type, 'boolean');
    const volume = crds.get('datavolumes.cdi.kubevirt.io');
    assert.deepEqual(schemaAt(volume, 'spec.contentType')?.enum, ['kubevirt', 'archive']);
  });

  it('keep in a template what a virtual machine has', () => {
    const template = crds.get('virtualmachinetemplateversions.harvesterhci.io');
    const machine = schemaAt(crds.get('virtualmachines.kubevirt.io'), 'spec');
    assert.deepEqual(schemaAt(template, 'spec.vm.spec'), machine);
    assert.deepEqual(
      schemaAt(crds.get('virtualmachinebackups.harvesterhci.io'), 'status.source.spec'),
      machine,
    );
  });
});

describe('expandDefinition', () => {
  const definition = {
    name: 'a.b',
    spec: {
      group: 'b',
      names: { plural: 'a' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: 'A' }],
      conversion: { strategy: 'None' },
    },
  } as const;

  it('puts the words of a field before those of its type', () => {
    const schemas = {
      A: { type: 'object', properties: { b: { $ref: 'B', description: 'The field.' }, c: { $ref: 'B' } } },
      B: { type: 'string', description: 'The type.' },
    };
    const crd = expandDefinition(definition, schemas);
    assert.deepEqual(schemaAt(crd, 'b'), { type: 'string', description: 'The field.' });
    assert.deepEqual(schemaAt(crd, 'c'), { type: 'string', description: 'The type.' });
  });

  it('has a digest that does not depend on the order of fields', () => {
    const digest = definitionDigest({ metadata: {}, spec: { a: [1, { b: 2, c: 3 }], d: null } });
    assert.equal(definitionDigest({ metadata: {}, spec: { d: null, a: [1, { c: 3, b: 2 }] } }), digest);
    assert.notEqual(definitionDigest({ metadata: {}, spec: { a: [{ b: 2, c: 3 }, 1], d: null } }), digest);
  });
});
