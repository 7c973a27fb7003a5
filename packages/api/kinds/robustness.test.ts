import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isJsonObject, type JsonObject, type JsonValue, StatusError } from '@sheaf/base';
import fc from 'fast-check';
import type { GoStruct } from '../builtin/go-type.ts';
import { findGoKind } from '../builtin/kinds.ts';
import { conform } from '../codec/conform.ts';
import { asObject, type GroupVersionKind, type KubeObject, parseApiVersion } from '../meta/object.ts';
import type { KindRules } from './kind-rules.ts';
import { conversionOf, kindRulesOf } from './rules.ts';

const file = new URL('fixtures/accepted.json', import.meta.url);
const recorded: readonly { answer: KubeObject }[] = JSON.parse(readFileSync(file, 'utf8'));

/** Every place in a value, as parent and key. */
function places(value: JsonValue | undefined, found: [JsonObject | JsonValue[], string][] = []) {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      found.push([value, String(index)]);
      places(item, found);
    }
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      found.push([value, key]);
      places(value[key], found);
    }
  }
  return found;
}

const replacements: readonly (JsonValue | undefined)[] = [
  undefined,
  null,
  '',
  'x',
  '%',
  -1,
  0,
  1e9,
  true,
  {},
  [],
  [{}],
  [''],
  { __proto__x: 'y', '': '' },
];

function damaged(object: KubeObject, picks: readonly (readonly [number, number])[]): JsonObject {
  const copy = structuredClone(object) as unknown as JsonObject;
  for (const [place, what] of picks) {
    const all = places(copy).filter(([, key]) => key !== 'apiVersion' && key !== 'kind');
    const target = all[place % all.length];
    if (target === undefined) continue;
    const [parent, key] = target as [Record<string, JsonValue | undefined>, string];
    parent[key] = structuredClone(replacements[what % replacements.length]);
  }
  return copy;
}

function decoded(json: JsonObject, struct: GoStruct, gvk: GroupVersionKind): KubeObject | undefined {
  try {
    return asObject(conform(json, struct, gvk).value);
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return undefined;
  }
}

/** What the server does with an object; only the decoder may refuse it. */
function process(json: JsonObject, old: KubeObject): void {
  const gvk = { ...parseApiVersion(old.apiVersion ?? ''), kind: old.kind ?? '' };
  const struct = findGoKind(gvk);
  assert.ok(struct);
  const object = decoded(json, struct, gvk);
  if (object === undefined) return;
  runRules(object, old, kindRulesOf(gvk.group, gvk.kind));
  const conversion = conversionOf(gvk);
  if (conversion) conversion.fromStorage(conversion.toStorage(structuredClone(object)));
}

function runRules(object: KubeObject, old: KubeObject, rules: KindRules): void {
  rules.prepareForCreate?.(object);
  rules.applyDefaults?.(object);
  rules.validateCreate?.(object);
  rules.warnings?.(object, undefined);
  rules.prepareForUpdate?.(object, old);
  rules.validateUpdate?.(object, old);
  rules.validateStatusUpdate?.(object, old);
  rules.selectableFields?.(object);
}

test('no object that decodes makes a rule fail', () => {
  const pick = fc.tuple(fc.nat({ max: 500 }), fc.nat({ max: replacements.length - 1 }));
  const check = fc.property(
    fc.nat({ max: recorded.length - 1 }),
    fc.array(pick, { maxLength: 4 }),
    (index, picks) => {
      const { answer } = recorded[index]!;
      process(damaged(answer, picks), answer);
    },
  );
  fc.assert(check, { numRuns: 2000 });
});

test('selectable fields are the same whatever the object', () => {
  for (const { answer } of recorded) {
    const rules = kindRulesOf(parseApiVersion(answer.apiVersion ?? '').group, answer.kind ?? '');
    const empty = Object.keys(rules.selectableFields?.({ metadata: {} }) ?? {});
    assert.deepEqual(Object.keys(rules.selectableFields?.(answer) ?? {}), empty);
  }
});

test('a new pod waits, and says that its gates keep it from a node', () => {
  const started = (spec: JsonObject): unknown => {
    const metadata = { name: 'p', creationTimestamp: '2026-01-01T00:00:00Z' };
    const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec } };
    kindRulesOf('', 'Pod').prepareForCreate?.(pod);
    return pod['status'];
  };
  const waiting = { phase: 'Pending', qosClass: 'BestEffort' };
  assert.deepEqual(started({}), waiting);
  assert.deepEqual(started({ schedulingGates: [{ name: 'later' }] }), {
    ...waiting,
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-01T00:00:00Z',
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ],
  });
});

test('containers of a StatefulSet mount the claims that each of its pods gets', () => {
  const refused = (claimName: string): unknown => {
    const container = { name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    const claim = {
      metadata: { name: claimName },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const set: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's', namespace: 'default' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } },
        volumeClaimTemplates: [claim],
      },
    };
    const rules = kindRulesOf('apps', 'StatefulSet');
    rules.applyDefaults?.(set);
    return rules.validateCreate?.(set).map(({ field }) => field);
  };
  assert.deepEqual(refused('data'), []);
  assert.deepEqual(refused('other'), ['spec.template.spec.containers[0].volumeMounts[0].name']);
});

test('an autoscaler keeps every metric through the older version', () => {
  const conversion = conversionOf({ group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' });
  assert.ok(conversion);
  const selector = { matchLabels: { a: 'b' } };
  const metrics = [
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'K', name: 'n' },
        metric: { name: 'm', selector },
        target: { type: 'Value', value: '5' },
      },
    },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'K', name: 'n' },
        metric: { name: 'm' },
        target: { type: 'AverageValue', averageValue: '5' },
      },
    },
    { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '500m' } } },
    {
      type: 'External',
      external: { metric: { name: 'm', selector }, target: { type: 'Value', value: '1' } },
    },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    {
      type: 'ContainerResource',
      containerResource: {
        name: 'cpu',
        container: 'c',
        target: { type: 'Utilization', averageUtilization: 5 },
      },
    },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
  ];
  const kept: KubeObject = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'x', annotations: { keep: 'me' } },
    spec: {
      maxReplicas: 3,
      minReplicas: 1,
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      metrics,
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 5,
          selectPolicy: 'Min',
          policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }],
        },
        scaleDown: { selectPolicy: 'Disabled' },
      },
    },
    status: {
      desiredReplicas: 2,
      currentReplicas: 1,
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageValue: '1', averageUtilization: 4 } },
        },
        { type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '2' } } },
      ],
      conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  };
  const older = conversion.fromStorage(structuredClone(kept));
  assert.equal((older['spec'] as JsonObject)['targetCPUUtilizationPercentage'], 70);
  assert.equal((older['status'] as JsonObject)['currentCPUUtilizationPercentage'], 4);
  assert.deepEqual(conversion.toStorage(older), kept);
});
