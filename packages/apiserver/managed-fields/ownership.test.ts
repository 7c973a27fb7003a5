import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asJson, asObject, compileStructural, type KubeObject, type ManagedFieldsEntry } from '@sheaf/api';
import { type JsonObject, type JsonValue, jsonEqual, StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { compareValues, isSame } from './compare.ts';
import { fieldSetOf } from './extract.ts';
import { widgetSchema } from './fixtures/scenarios.ts';
import {
  apply,
  type FindVersion,
  fromScaleEntries,
  type OwnershipContext,
  toScaleEntries,
  updateOwnership,
  withoutTimeOnlyChange,
} from './index.ts';
import { mergeValues } from './merge.ts';
import { removeItems } from './remove-items.ts';

const apiVersion = 'ssa.example.com/v1';
const schema = compileStructural(widgetSchema);
const context = (manager: string, second = 0): OwnershipContext => ({
  manager,
  apiVersion,
  subresource: '',
  schema,
  now: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
});

function widget(spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  return asObject({ apiVersion, kind: 'Widget', metadata: { name: 'w', ...metadata }, spec });
}

function stored(object: KubeObject, managedFields: ManagedFieldsEntry[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields } };
}

function created(manager: string, spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  const next = widget(spec, metadata);
  return stored(next, updateOwnership({ ...context(manager), live: undefined, next }));
}

function updated(live: KubeObject, manager: string, spec: JsonObject): KubeObject {
  const next = { ...live, spec };
  return stored(next, updateOwnership({ ...context(manager, 5), live, next }));
}

function appliedTo(
  live: KubeObject | undefined,
  manager: string,
  spec: JsonObject,
  force = false,
): KubeObject {
  const { object } = apply({ ...context(manager, 9), kind: 'Widget', live, applied: widget(spec), force });
  return { ...object, metadata: { ...object.metadata, uid: 'u' } };
}

function ownersOf(object: KubeObject): Record<string, JsonValue> {
  const entries = object.metadata.managedFields ?? [];
  return Object.fromEntries(
    entries.map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1 as JsonValue]),
  );
}

/** These properties are rich: few runs find what there is to find. */
function check<T>(property: fc.IProperty<T>): void {
  fc.assert(property, { numRuns: 40 });
}

describe('updates', () => {
  it('that change nothing keep the very same entries', () => {
    const live = created('c', { replicas: 1, set: ['a'] });
    const again = updateOwnership({ ...context('x', 7), live, next: structuredClone(live) });
    assert.deepEqual(again, live.metadata.managedFields);
    assert.equal(again[0], live.metadata.managedFields?.[0]);
  });

  it('renew the time of the writer only', () => {
    const live = updated(created('c', { replicas: 1, name: 'a' }), 'u', { replicas: 2, name: 'a' });
    const times = live.metadata.managedFields?.map(({ manager, time }) => `${manager} ${time}`);
    assert.deepEqual(times, ['c 2026-01-01T00:00:00Z', 'u 2026-01-01T00:00:05Z']);
  });

  it('without a name belong to unknown', () => {
    assert.deepEqual(Object.keys(ownersOf(created('', { replicas: 1 }))), ['unknown Update']);
  });

  it('are not tracked once the entries were cleared', () => {
    const live = stored(created('c', { replicas: 1 }), []);
    assert.deepEqual(updateOwnership({ ...context('u'), live, next: widget({ replicas: 2 }) }), []);
  });

  it('through a subresource cannot set entries', () => {
    const live = created('c', { replicas: 1 });
    const next = stored(live, []);
    assert.deepEqual(
      updateOwnership({ ...context('u'), subresource: 'status', live, next }),
      live.metadata.managedFields,
    );
  });

  it('survive any entries that a client may send', () => {
    const live = created('c', { replicas: 1 });
    check(
      fc.property(fc.jsonValue(), fc.boolean(), (sent, isList) => {
        const managedFields = (isList ? [sent] : sent) as ManagedFieldsEntry[];
        const next = { ...live, metadata: { ...live.metadata, managedFields } };
        assert.ok(Array.isArray(updateOwnership({ ...context('u'), live, next })));
      }),
    );
  });

  it('of objects that do not fit their schema are booked all the same', () => {
    const spec = fc.dictionary(
      fc.constantFrom('replicas', 'set', 'map', 'nested', 'any', 'zork', '__proto__', 'constructor'),
      fc.jsonValue(),
    );
    check(
      fc.property(spec, spec, (before, after) => {
        const live = created('c', before);
        updated(live, 'u', after);
      }),
    );
  });

  it('drop owners of versions that are gone, and compare others in their own version', () => {
    const live = created('c', { replicas: 1, name: 'a' });
    const old = { operation: 'Update', fieldsType: 'FieldsV1', time: '2020-01-01T00:00:00Z' } as const;
    const entries: ManagedFieldsEntry[] = [
      { ...old, manager: 'gone', apiVersion: 'x/v0', fieldsV1: { 'f:spec': {} } },
      { ...old, manager: 'old', apiVersion: 'x/v1', fieldsV1: { 'f:spec': { 'f:count': {}, 'f:name': {} } } },
    ];
    const rename = (object: JsonObject): JsonObject => {
      const { replicas, ...spec } = object['spec'] as JsonObject;
      return { ...object, spec: { ...spec, count: replicas } };
    };
    const view = { apiVersion: 'x/v1', schema: { type: 'any' }, convert: rename } as const;
    const findVersion: FindVersion = (version) => (version === 'x/v1' ? view : undefined);
    const next = { ...live, spec: { replicas: 2, name: 'a' } };
    const managedFields = updateOwnership({
      ...context('u', 5),
      live: stored(live, entries),
      next: stored(next, entries),
      findVersion,
    });
    assert.deepEqual(
      managedFields.map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
      [
        ['old', { 'f:spec': { 'f:name': {} } }],
        ['u', { 'f:spec': { 'f:replicas': {} } }],
      ],
    );
  });
});

describe('kubectl apply --server-side after client-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const last = JSON.stringify({ apiVersion, kind: 'Widget', spec: { replicas: 1, name: 'a' } });
  const start = () =>
    created('kubectl-client-side-apply', { replicas: 1, name: 'a' }, { annotations: { [annotation]: last } });

  it('may change what it applied before', () => {
    const after = appliedTo(start(), 'kubectl', { replicas: 2 });
    assert.equal((after['spec'] as JsonObject)['replicas'], 2);
    const text = after.metadata.annotations?.[annotation];
    assert.equal(
      text,
      `{"apiVersion":"${apiVersion}","kind":"Widget","metadata":{"name":"w"},"spec":{"replicas":2}}\n`,
    );
  });

  it('may not change what others changed since, nor may other managers', () => {
    const live = updated(start(), 'other', { replicas: 5, name: 'a' });
    assert.throws(
      () => appliedTo(live, 'kubectl', { replicas: 2 }),
      /1 conflict: conflict with "other" using ssa.example.com\/v1: .spec.replicas/,
    );
    assert.throws(
      () => appliedTo(start(), 'argo', { replicas: 2 }),
      /conflict with "kubectl-client-side-apply"/,
    );
  });

  it('migrates in four steps', () => {
    // 1 the object as client-side apply left it, 2 applied by kubectl
    const first = appliedTo(start(), 'kubectl', { replicas: 1, name: 'a' });
    // 3 as kubectl-last-applied, owning the annotation alone
    const configuration = asObject({
      apiVersion,
      kind: 'Widget',
      metadata: { name: 'w', annotations: { [annotation]: first.metadata.annotations?.[annotation] ?? '' } },
    });
    const annotated = apply({
      ...context('kubectl-last-applied', 10),
      kind: 'Widget',
      live: first,
      applied: configuration,
      force: false,
    }).object;
    // 4 managedFields replaced by a JSON patch: the client-side entry becomes part of the applier's
    const kept = (annotated.metadata.managedFields ?? []).filter(
      ({ manager }) => manager !== 'kubectl-client-side-apply',
    );
    const next = { ...annotated, metadata: { ...annotated.metadata, managedFields: kept } };
    const managedFields = updateOwnership({ ...context('kubectl', 11), live: annotated, next });
    assert.deepEqual(managedFields, kept);
    // then a field that is applied no more goes
    const after = appliedTo(stored(annotated, managedFields), 'kubectl', { replicas: 1 });
    assert.deepEqual(after['spec'], { replicas: 1 });
  });
});

describe('timestamps', () => {
  it('alone are no change', () => {
    const live = created('c', { replicas: 1 });
    const later = structuredClone(live);
    later.metadata.managedFields![0]!.time = '2030-01-01T00:00:00Z';
    assert.equal(withoutTimeOnlyChange(live, later), live);
    const changed = { ...later, spec: { replicas: 2 } };
    assert.equal(withoutTimeOnlyChange(live, changed), changed);
  });
});

describe('the scale subresource', () => {
  const replicas = new Map([[apiVersion, ['f:spec', 'f:replicas']]]);
  const parent = () =>
    updated(created('c', { replicas: 1, name: 'a' }), 'u', { replicas: 2, name: 'a' }).metadata.managedFields;

  it('shows the owners of the replicas', () => {
    assert.deepEqual(
      toScaleEntries(parent(), replicas).map(({ manager, apiVersion: version, fieldsV1 }) => [
        manager,
        version,
        fieldsV1,
      ]),
      [['u', 'autoscaling/v1', { 'f:spec': { 'f:replicas': {} } }]],
    );
  });

  it('hands them over', () => {
    const entry = {
      manager: 's',
      operation: 'Update',
      apiVersion: 'autoscaling/v1',
      time: '2026-01-01T00:00:09Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    } as const;
    const after = fromScaleEntries({ parent: parent(), scale: [entry], apiVersion }, replicas);
    assert.deepEqual(
      after.map(({ manager, apiVersion: version, subresource, fieldsV1 }) => [
        manager,
        version,
        subresource,
        fieldsV1,
      ]),
      [
        ['c', apiVersion, undefined, { 'f:spec': { '.': {}, 'f:name': {} } }],
        ['s', apiVersion, 'scale', { 'f:spec': { 'f:replicas': {} } }],
      ],
    );
  });

  it('leaves all as it is when nothing changed', () => {
    const before = parent();
    assert.deepEqual(
      fromScaleEntries({ parent: before, scale: toScaleEntries(before, replicas), apiVersion }, replicas),
      before,
    );
  });
});

const names = fc.constantFrom('a', 'b', 'c', 'd');
const spec = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 3 }),
    name: fc.constantFrom('x', 'y'),
    set: fc.uniqueArray(names),
    atomicList: fc.array(names),
    granular: fc.dictionary(names, fc.constantFrom('1', '2')),
    atomicMap: fc.dictionary(names, fc.constantFrom('1', '2')),
    map: fc.uniqueArray(
      fc.record(
        {
          name: names,
          value: fc.constantFrom('1', '2'),
          sub: fc.dictionary(fc.constantFrom('x', 'y'), names),
        },
        { requiredKeys: ['name'] },
      ),
      { selector: (item) => item.name },
    ),
    ports: fc.uniqueArray(
      fc.record({ port: fc.constantFrom(1, 2), protocol: fc.constantFrom('UDP', 'SCTP') }),
      { selector: (item) => `${item.port}${item.protocol}` },
    ),
    any: fc.dictionary(
      names,
      fc.oneof(fc.constant('s'), fc.constant([1]), fc.dictionary(names, fc.constant(1))),
    ),
  },
  { requiredKeys: [] },
) as unknown as fc.Arbitrary<JsonObject>;

describe('laws', () => {
  it('a value does not differ from itself, and two that do not differ are equal', () => {
    check(
      fc.property(spec, spec, (a, b) => {
        const [left, right] = [asJson(widget(a)), asJson(widget(b))];
        assert.ok(isSame(compareValues(left, structuredClone(left), schema)));
        const { added, removed } = compareValues(left, right, schema);
        const back = compareValues(right, left, schema);
        assert.deepEqual([back.removed, back.added], [added, removed]);
      }),
    );
  });

  it('merging twice is merging once, and claims all of the configuration', () => {
    check(
      fc.property(spec, spec, (live, applied) => {
        const [left, right] = [asJson(widget(live)), asJson(widget(applied))];
        const merged = mergeValues(left, right, schema);
        assert.equal(mergeValues(merged, right, schema), merged);
        assert.equal(mergeValues(right, right, schema), right);
        const after = JSON.stringify(fieldSetOf(merged, schema));
        for (const key of Object.keys(fieldSetOf(right, schema))) assert.ok(after.includes(key));
      }),
    );
  });

  it('an apply done again changes nothing, whoever wrote before', () => {
    check(
      fc.property(spec, spec, spec, (first, second, third) => {
        const live = updated(appliedTo(created('c', first), 'm1', second, true), 'u', first);
        const once = appliedTo(live, 'm2', third, true);
        const again = apply({
          ...context('m2', 30),
          kind: 'Widget',
          live: once,
          applied: widget(third),
          force: false,
        });
        assert.equal(again.isChanged, false);
        assert.deepEqual(again.object.metadata.managedFields, once.metadata.managedFields);
      }),
    );
  });

  it('what one applied alone goes with an empty apply', () => {
    check(
      // An empty set or map list is nobody's, as upstream.
      fc.property(
        spec.filter(({ set, map, ports }) =>
          [set, map, ports].every((list) => !Array.isArray(list) || list.length > 0),
        ),
        (config) => {
          const live = appliedTo(created('c', { b: true }), 'm1', config);
          const { object } = apply({
            ...context('m1', 30),
            kind: 'Widget',
            live,
            applied: asObject({ apiVersion, kind: 'Widget', metadata: { name: 'w' } }),
            force: false,
          });
          assert.deepEqual(object['spec'], { b: true });
          assert.deepEqual(Object.keys(ownersOf(object)), ['c Update']);
        },
      ),
    );
  });

  it('removing nothing is nothing, removing all of it leaves nothing', () => {
    check(
      fc.property(spec, (made) => {
        const value = asJson(widget(made));
        assert.equal(removeItems(value, {}, schema), value);
        assert.deepEqual(removeItems(value, { 'f:spec': {} }, schema), {
          apiVersion,
          kind: 'Widget',
          metadata: { name: 'w' },
        });
      }),
    );
  });

  it('inputs are never changed', () => {
    check(
      fc.property(spec, spec, (first, second) => {
        const live = created('c', first);
        const copy = structuredClone(live);
        appliedTo(live, 'm', second, true);
        updated(live, 'u', second);
        assert.ok(jsonEqual(asJson(live), asJson(copy)));
      }),
    );
  });

  it('an apply fails with a StatusError or not at all', () => {
    const wild = fc.dictionary(
      fc.constantFrom('replicas', 'set', 'map', 'ports', 'nested', 'any', 'zork', '__proto__'),
      fc.jsonValue(),
    );
    check(
      fc.property(spec, wild, fc.boolean(), (first, second, force) => {
        try {
          appliedTo(created('c', first), 'm', second, force);
        } catch (error) {
          assert.ok(StatusError.is(error), String(error));
        }
      }),
    );
  });

  it('nesting without end is refused', () => {
    let any: JsonValue = 1;
    for (let depth = 0; depth < 50_000; depth++) any = { a: any };
    assert.throws(() => appliedTo(undefined, 'm', { any }), { code: 400 });
  });
});
