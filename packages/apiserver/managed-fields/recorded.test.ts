import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  asJson,
  asObject,
  compileStructural,
  type KubeObject,
  type ManagedFieldsEntry,
  type TypeSchema,
  typeSchemaOf,
} from '@sheaf/api';
import {
  applyJsonPatch,
  applyMergePatch,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StatusCause,
  StatusError,
} from '@sheaf/base';
import { strategicMergePatch } from '../patch/index.ts';
import { type Scenario, type Step, scenarios, widgetSchema } from './fixtures/scenarios.ts';
import { apply, type OwnershipContext, updateOwnership } from './index.ts';

/** What a real API server answered; managedFields without times. */
interface Answer {
  readonly code: number;
  readonly object?: JsonObject;
  readonly message?: string;
  readonly causes?: StatusCause[];
}

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: TypeSchema;
  readonly empty?: JsonObject;
  readonly hasStatus: boolean;
}

const recorded = JSON.parse(readFileSync(new URL('./fixtures/recorded.json', import.meta.url), 'utf8')) as {
  title: string;
  answers: Answer[];
}[];

const meta = { metadata: {} };
const template = { metadata: {}, spec: { containers: null } };
const kinds: Record<string, Kind> = {
  w: {
    apiVersion: 'ssa.example.com/v1',
    kind: 'Widget',
    schema: compileStructural(widgetSchema),
    hasStatus: true,
  },
  cm: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    schema: typeSchemaOf({ group: '', version: 'v1', kind: 'ConfigMap' }),
    empty: meta,
    hasStatus: false,
  },
  dep: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    schema: typeSchemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' }),
    empty: { ...meta, spec: { selector: null, strategy: {}, template }, status: {} },
    hasStatus: true,
  },
  svc: {
    apiVersion: 'v1',
    kind: 'Service',
    schema: typeSchemaOf({ group: '', version: 'v1', kind: 'Service' }),
    empty: { ...meta, spec: {}, status: { loadBalancer: {} } },
    hasStatus: true,
  },
};

/** Where this server does something else on purpose. */
const deliberate = new Map([
  ['any shapes #4', 'a map emptied by apply stays an empty map, upstream makes it null'],
  ['any shapes #5', 'as above'],
  ['any emptied #2', 'as above'],
  ['any emptied #3', 'as above'],
  ['clear mf #1', 'an empty list clears managedFields of custom resources too'],
  ['clear mf #2', 'as above'],
  ['clear mf #3', 'as above'],
  ['clear mf #4', 'as above'],
  ['svc #1', 'upstream books before it allocates node ports, the recording shows the object after'],
]);

function identity(entry: JsonObject): string {
  const { operation, manager, apiVersion, subresource } = entry;
  return JSON.stringify([operation, manager, apiVersion, subresource]);
}

/** managedFields without times, in an order that does not depend on them. */
function entriesOf(object: JsonObject | KubeObject): JsonObject[] {
  const entries = ((object as KubeObject).metadata.managedFields ?? []) as JsonObject[];
  return entries
    .map((entry) => ({ ...entry, time: null }))
    .toSorted((a, b) => (identity(a) < identity(b) ? -1 : 1));
}

/** The parts that the schema's defaults and the server's own fields do not touch. */
function contentOf(object: JsonObject | KubeObject): JsonValue {
  const { metadata, spec, data } = structuredClone(object) as JsonObject;
  const { labels, annotations, finalizers, ownerReferences } = metadata as JsonObject;
  if (isJsonObject(spec)) addDefaults(spec);
  const parts = { labels, annotations, finalizers, ownerReferences, data };
  const kept = Object.entries(parts).filter(([, part]) => part && Object.keys(part).length > 0);
  // A typed map of strings turns null into an empty one.
  const text = JSON.stringify({ ...Object.fromEntries(kept), spec }).replaceAll(
    '"copied2":null',
    '"copied2":""',
  );
  return JSON.parse(text) as JsonValue;
}

/** Of kinds with many defaults: what the patches touch, in its order. */
function outlineOf(object: JsonObject | KubeObject): JsonValue {
  const { metadata, spec = {} } = structuredClone(object) as Record<string, JsonObject>;
  const { template = { spec: {} }, strategy, ports } = spec as Record<string, JsonObject>;
  const { containers, volumes, tolerations } = template['spec'] as JsonObject;
  const outline = {
    labels: metadata?.['labels'] ?? {},
    containers: pick(containers, ['name', 'image', 'env']),
    volumes: pick(volumes, ['name', 'emptyDir']),
    ports: pick(ports, ['name', 'port']),
    tolerations: pick(tolerations, ['key']),
    strategy: strategy?.['type'],
  };
  return JSON.parse(JSON.stringify(outline)) as JsonValue;
}

function pick(items: JsonValue | undefined, fields: readonly string[]): (JsonValue | undefined)[][] {
  return ((items ?? []) as JsonObject[]).map((item) => fields.map((field) => item[field]));
}

function addDefaults(spec: JsonObject): void {
  for (const port of (spec['ports'] ?? []) as JsonObject[]) port['protocol'] ??= 'TCP';
  const { withDefault } = spec;
  if (isJsonObject(withDefault)) withDefault['p'] ??= 'dflt';
}

function resetFields(kind: Kind, sub: string): readonly (readonly string[])[] {
  if (!kind.hasStatus) return [];
  if (sub === '') return [['status']];
  return kind.kind === 'Widget' ? [['metadata'], ['spec']] : [['spec'], ['metadata', 'labels']];
}

interface Replay {
  readonly kind: Kind;
  live: KubeObject | undefined;
  /** Seconds; every step is a second later. */
  now: number;
}

function contextOf(replay: Replay, step: Step): OwnershipContext {
  return {
    manager: step.manager,
    apiVersion: replay.kind.apiVersion,
    subresource: step.sub ?? '',
    schema: replay.kind.schema,
    resetFields: resetFields(replay.kind, step.sub ?? ''),
    now: new Date(replay.now * 1000).toISOString().replace('.000', ''),
    findVersion: () => undefined,
  };
}

function fullBody(replay: Replay, step: Step): JsonObject {
  const { apiVersion, kind } = replay.kind;
  const body = step.body as JsonObject;
  return { apiVersion, kind, ...body, metadata: { name: 'NAME', ...(body['metadata'] as JsonObject) } };
}

function patched(replay: Replay, step: Step): JsonValue {
  if (step.op === 'create') return fullBody(replay, step);
  const live = asJson(replay.live!);
  if (step.op === 'put') return { ...live, ...(step.body as JsonObject) };
  if (step.op === 'merge') return applyMergePatch(live, step.body);
  if (step.op === 'json') return applyJsonPatch(live, step.body);
  return strategicMergePatch(live, step.body as JsonObject, replay.kind.schema);
}

/** The object as the answer has it, with the managedFields that are worked out here. */
function ours(replay: Replay, step: Step, answer: Answer): KubeObject {
  const context = contextOf(replay, step);
  const empty = replay.kind.empty && { empty: asObject(replay.kind.empty) };
  if (step.op === 'apply') {
    const applied = asObject(fullBody(replay, step));
    const { kind } = replay.kind;
    return apply({ ...context, kind, live: replay.live, applied, force: step.force ?? false, ...empty })
      .object;
  }
  const document = asObject(patched(replay, step));
  const content = answer.object ?? asJson(document);
  const { managedFields: _, ...metadata } = content['metadata'] as JsonObject;
  const sent = document.metadata.managedFields;
  const next = asObject({
    ...content,
    metadata: { ...metadata, ...(sent && { managedFields: sent as unknown as JsonValue }) },
  });
  const managedFields = updateOwnership({ ...context, live: replay.live, next, ...empty });
  return { ...document, metadata: { ...document.metadata, managedFields } };
}

/** Upstream answers 500 for what clients did wrong, and prints some values as its own types. */
function checkRefusal(error: unknown, answer: Answer): void {
  assert.ok(StatusError.is(error), String(error));
  if (answer.code === 500) assert.ok([400, 422].includes(error.code), `${error.code}`);
  else assert.equal(error.code, answer.code);
  if (answer.message?.includes('&') || answer.message?.startsWith('error decoding patch')) return;
  assert.equal(error.message, answer.message);
  assert.deepEqual(sortCauses(error.details?.causes), sortCauses(answer.causes));
}

function sortCauses(causes: readonly StatusCause[] | undefined): StatusCause[] {
  return (causes ?? []).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Refusals that come after all this: validation of the object. */
function isValidation(answer: Answer): boolean {
  return answer.code === 422 && / is invalid: /.test(answer.message ?? '');
}

function replayStep(replay: Replay, step: Step, answer: Answer): void {
  let result: KubeObject;
  try {
    result = ours(replay, step, answer);
  } catch (error) {
    checkRefusal(error, answer);
    return;
  }
  if (isValidation(answer)) return;
  assert.equal(answer.object === undefined, false, `upstream refuses: ${answer.code} ${answer.message}`);
  assert.deepEqual(entriesOf(result), entriesOf(answer.object!));
  if (step.sub) return;
  const hasDefaults = replay.kind.kind !== 'Widget' && replay.kind.kind !== 'ConfigMap';
  const view = hasDefaults ? outlineOf : contentOf;
  if (!hasDefaults || step.op === 'smp') assert.deepEqual(view(result), view(answer.object!));
}

/** The answer becomes the live object, with times as this replay would have set them. */
function advance(replay: Replay, answer: Answer): void {
  replay.now++;
  if (answer.object === undefined) return;
  const before = replay.live?.metadata.managedFields ?? [];
  const object = structuredClone(answer.object) as unknown as KubeObject;
  Object.assign(object.metadata, { name: 'NAME', uid: 'uid' });
  for (const entry of object.metadata.managedFields ?? []) entry.time = timeOf(entry, before, replay.now - 1);
  replay.live = object;
}

function timeOf(entry: ManagedFieldsEntry, before: readonly ManagedFieldsEntry[], now: number): string {
  const old = before.find((other) => identity(other as JsonObject) === identity(entry as JsonObject));
  if (old?.time && JSON.stringify(old.fieldsV1) === JSON.stringify(entry.fieldsV1)) return old.time;
  return new Date((entry.manager === 'ancient-changes' ? 0 : now) * 1000).toISOString().replace('.000', '');
}

function replayScenario(scenario: Scenario, answers: readonly Answer[]): void {
  const replay: Replay = { kind: kinds[scenario.kind]!, live: undefined, now: 1_700_000_000 };
  for (const [index, step] of scenario.steps.entries()) {
    const answer = answers[index]!;
    const before = { ...replay };
    const label = `${scenario.title} #${index}`;
    if (!deliberate.has(label)) {
      it(`${label}: ${step.op} as ${step.manager}`, () => replayStep(before, step, answer));
    }
    advance(replay, answer);
  }
}

describe('writes that a real API server answered', () => {
  for (const [index, scenario] of scenarios.entries()) {
    const { title, answers } = recorded[index]!;
    assert.equal(title, scenario.title);
    replayScenario(scenario, answers);
  }
});
