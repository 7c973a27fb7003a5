import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { resourceOf } from './kinds.ts';

/** What users see of a namespace at one moment, with names in place of what differs from run to run; by kind and name. */
export type Pictured = Readonly<Record<string, JsonValue>>;

const kinds = [
  'deployments',
  'replicaSets',
  'statefulSets',
  'daemonSets',
  'jobs',
  'cronJobs',
  'controllerRevisions',
  'pods',
  'endpointSlices',
  'podDisruptionBudgets',
] as const;

/** Left out: who wrote which field, and identities. */
const hiddenMetadata = new Set(['uid', 'resourceVersion', 'managedFields', 'creationTimestamp', 'namespace']);

/** Takes pictures of one namespace; what has got a name keeps it. */
export class Picture {
  readonly #client: Client;
  readonly #namespace: string;
  /** Values that each server makes in its own way, and what they are called here. */
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** Events go when there are many of their kind; what has been told was told. */
  readonly #events = new Set<string>();

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async take(): Promise<Pictured> {
    const all = new Map<string, readonly KubeObject[]>();
    for (const kind of kinds) all.set(kind, await this.#list(kind));
    this.#learn(all.get('replicaSets') ?? [], 'pod-template-hash', 'HASH');
    for (const label of ['controller.kubernetes.io/hash', 'controller-revision-hash'])
      this.#learn(all.get('controllerRevisions') ?? [], label, 'REVISION');
    for (const objects of all.values()) for (const { metadata } of objects) this.#learnName(metadata);
    const shown = [...all].flatMap(([kind, objects]) =>
      objects.map((object) => [`${kind} ${object.metadata.name}`, partOf(object)] as const),
    );
    for (const event of await this.#list('events'))
      this.#events.add(`event ${this.#clean(eventText(event))}`);
    return grouped([
      ...shown.map(
        ([name, object]) => [this.#clean(name), JSON.parse(this.#clean(JSON.stringify(object)))] as const,
      ),
      ...[...this.#events].map((text) => [text, true] as const),
    ] as (readonly [string, JsonValue])[]);
  }

  async #list(kind: string): Promise<readonly KubeObject[]> {
    const resource = kind === 'events' ? resources.events : resourceOf(kind);
    const { items } = await this.#client.list(resource, { namespace: this.#namespace });
    return items.toSorted((a, b) => ageOf(a) - ageOf(b) || revisionOf(a) - revisionOf(b));
  }

  #learn(objects: readonly KubeObject[], label: string, title: string): void {
    for (const { metadata } of objects) this.#call(metadata.labels?.[label], title);
  }

  /** What the server has completed of a name. */
  #learnName({ generateName, name }: KubeObject['metadata']): void {
    const ending = generateName && name?.startsWith(generateName) ? name.slice(generateName.length) : '';
    if (/^[a-z0-9]{5}$/.test(ending)) this.#names.set(ending, '*');
  }

  #call(value: string | undefined, title: string): void {
    if (value === undefined || this.#names.has(value)) return;
    const count = (this.#counts.get(title) ?? 0) + 1;
    this.#counts.set(title, count);
    this.#names.set(value, `${title}${count}`);
  }

  #clean(text: string): string {
    let cleaned = text;
    for (const [value, name] of this.#names) cleaned = cleaned.replaceAll(value, name);
    return cleaned
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
      .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"VERSION"')
      .replaceAll(/\b(tick)-\d{8}/g, '$1-MINUTE')
      .replaceAll(/(HASH\d+|Created pod: \S+?|Deleted pod: \S+?)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-*')
      .replaceAll('(combined from similar events): ', '')
      .replaceAll(/status-(one|two|three)/g, 'NODE')
      .replaceAll(this.#namespace, 'NAMESPACE');
  }
}

/** Objects that cannot be told apart are one with a count. */
function grouped(entries: readonly (readonly [string, JsonValue])[]): Pictured {
  const counts = new Map<string, number>();
  for (const [name, value] of entries) {
    const key = JSON.stringify([name, inOrder(value)]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const seen = new Map<string, number>();
  const result: Record<string, JsonValue> = {};
  for (const [key, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [name, value] = JSON.parse(key) as [string, JsonValue];
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const title = number === 1 ? name : `${name} (${number})`;
    result[title] = value === true ? true : { count, object: value };
  }
  return result;
}

/** With its fields in one order. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, inOrder(field ?? null)]));
}

/** What controllers write: all of what they make, and the status and annotations of what users make. */
function partOf(object: KubeObject): JsonObject {
  const { metadata, kind: _, apiVersion: __, ...rest } = object as unknown as JsonObject & KubeObject;
  const shown = Object.fromEntries(Object.entries(metadata).filter(([field]) => !hiddenMetadata.has(field)));
  const isMade = metadata.ownerReferences !== undefined;
  const { spec, status, ...others } = rest;
  return {
    metadata: shown,
    ...(isMade && { ...others, ...(spec !== undefined && { spec }) }),
    ...(status !== undefined && { status: sorted(status) }),
  };
}

/** Conditions have no order. */
function sorted(status: JsonValue): JsonValue {
  if (!isJsonObject(status) || !Array.isArray(status['conditions'])) return status;
  return {
    ...status,
    conditions: status['conditions'].toSorted((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1)),
  };
}

function typeOf(condition: JsonValue): string {
  const type = isJsonObject(condition) ? condition['type'] : undefined;
  return typeof type === 'string' ? type : '';
}

function eventText(event: KubeObject): string {
  const { type, reason, message, involvedObject, source } = event as unknown as {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly involvedObject: { readonly kind: string; readonly name: string };
    readonly source?: { readonly component?: string };
  };
  return `${source?.component} ${type} ${reason} ${involvedObject.kind} ${involvedObject.name}: ${message}`;
}

function ageOf({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

/** Made within the same second, they are told apart by their number. */
function revisionOf(object: KubeObject): number {
  const annotation = object.metadata.annotations?.['deployment.kubernetes.io/revision'];
  return Number((object as unknown as { readonly revision?: number }).revision ?? annotation ?? 0);
}
