import type { Answer } from './answer.ts';

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** What is said of numbers that differ from run to run, in messages. */
const messageNumbers: readonly (readonly [RegExp, string])[] = [
  [/too old resource version: \d+ \(\d+\)/g, 'too old resource version: <rv> (<rv>)'],
  [/Too large resource version: (\d+), current: \d+/g, 'Too large resource version: $1, current: <rv>'],
  [/ResourceVersion in record \(\d+\)/g, 'ResourceVersion in record (<rv>)'],
];

/**
 * Replaces what differs from run to run by names. One instance serves one theme, so that an identity seen twice
 * (an uid, a version, a generated name) gets the same name twice, and what is not the same is seen.
 */
export class Normaliser {
  readonly #id: string;
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #pair = 0;

  /** `id` is the run's own piece of names. */
  constructor(id: string) {
    this.#id = id;
  }

  /** The answer of the next pair. Identities are named after the pair that shows them first. */
  answer(answer: Answer): Answer {
    this.#pair++;
    this.#counts.clear();
    this.#findGenerated(answer.body);
    const headers = Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name, this.#header(name, value)]),
    );
    const body = answer.body === undefined ? undefined : this.#value(answer.body, []);
    return { status: answer.status, headers, ...(body === undefined ? {} : { body }) };
  }

  /** Names that the server has made are known from the object that has both. */
  #findGenerated(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#findGenerated(item);
    if (!isObject(value)) return;
    const { generateName, name } = value;
    if (typeof generateName === 'string' && typeof name === 'string' && name !== generateName) {
      const stem = name.slice(0, -5);
      if (generateName.startsWith(stem)) this.#names.set(name, `${stem}<generated>`);
    }
    for (const item of Object.values(value)) this.#findGenerated(item);
  }

  #header(name: string, value: string): string {
    if (name === 'warning')
      return this.#text(
        value
          .split(/, (?=299 - )/)
          .sort()
          .join(', '),
      );
    if (name === 'etag') return /^"[0-9A-F]{128}"$/.test(value) ? '<etag>' : value;
    return this.#text(value);
  }

  #value(value: unknown, path: readonly string[]): unknown {
    if (typeof value === 'string') return this.#field(value, path);
    if (Array.isArray(value)) return this.#list(value, path);
    if (!isObject(value)) return value;
    const shown = withSortedCauses(withoutStoreRevision(value));
    // In the order of keys, so that identities are met in the same order whatever the server's.
    const entries = Object.keys(shown)
      .sort()
      .map((key) => [this.#text(key), this.#value(shown[key], [...path, key])] as const);
    return Object.fromEntries(entries);
  }

  #list(values: readonly unknown[], path: readonly string[]): unknown[] {
    const isManaged = path.at(-1) === 'managedFields';
    const sorted = isManaged ? [...values].sort((a, b) => (managedKey(a) < managedKey(b) ? -1 : 1)) : values;
    return sorted.map((item) => this.#value(item, [...path, '0']));
  }

  #field(text: string, path: readonly string[]): string {
    const key = path.at(-1);
    if (key === 'resourceVersion' || key === 'storageVersionHash') return this.#opaque(text, path);
    if (key === 'continue') return continueToken(this.#text(decoded(text)));
    return passing(text, path) ?? this.#text(text);
  }

  #opaque(text: string, path: readonly string[]): string {
    if (text === '' || text === '0') return text;
    if (path.at(-1) === 'storageVersionHash') return '<hash>';
    if (!/^\d+$/.test(text)) return text;
    return this.#named(text, 'rv');
  }

  #text(text: string): string {
    let changed = text.replaceAll(this.#id, '<id>').replace(time, '<time>');
    changed = changed.replace(uuid, (found) => this.#named(found, 'uid'));
    for (const [pattern, replacement] of messageNumbers) changed = changed.replace(pattern, replacement);
    for (const [name, replacement] of this.#names) {
      if (replacement.endsWith('<generated>')) changed = changed.replaceAll(name, replacement);
    }
    return changed;
  }

  #named(value: string, kind: string): string {
    const known = this.#names.get(`${kind} ${value}`);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `<${kind} ${this.#pair}.${count}>`;
    this.#names.set(`${kind} ${value}`, name);
    return name;
  }
}

/** Values that are made anew in each run and say nothing. */
function passing(text: string, path: readonly string[]): string | undefined {
  const key = path.at(-1);
  const isAddress = key === 'clusterIP' || path.at(-2) === 'clusterIPs';
  if (isAddress && text.startsWith('10.')) return '<address>';
  if (key === 'token' && text.startsWith('eyJ')) return '<token>';
  return path.at(-2) === 'cells' && /^(\d+[smhd])+$/.test(text) ? '<age>' : undefined;
}

/**
 * Faults are found in the order of Go's maps, some of them twice: they are sorted, and the message that joins them is
 * replaced by its beginning.
 */
function withSortedCauses(value: Record<string, unknown>): Record<string, unknown> {
  if (value['kind'] !== 'Status') return value;
  const message = typeof value['message'] === 'string' ? value['message'] : '';
  const shown = { ...value, message: sortedSentence(message) };
  const details = value['details'];
  if (!isObject(details) || !Array.isArray(details['causes'])) return shown;
  const causes = [
    ...new Set(details['causes'].map((cause) => JSON.stringify(cause, ['reason', 'message', 'field']))),
  ]
    .sort()
    .map((text) => JSON.parse(text) as Record<string, string>);
  const start = message.indexOf(' is invalid: ');
  const isJoined =
    start >= 0 &&
    causes.length > 1 &&
    causes.every((cause) => message.includes(`${cause['field']}: ${cause['message']}`));
  return {
    ...shown,
    ...(isJoined ? { message: `${message.slice(0, start)} is invalid: <causes>` } : {}),
    details: { ...details, causes },
  };
}

const strictly = 'strict decoding error: ';

/** What strict decoding finds is told in the order of Go's maps. */
function sortedSentence(message: string): string {
  const start = message.indexOf(strictly);
  if (start < 0) return message;
  const faults = message.slice(start + strictly.length).split(', ');
  return `${message.slice(0, start)}${strictly}${faults.sort().join(', ')}`;
}

/** The version of a list or a bookmark is that of the store, which others change meanwhile. */
function withoutStoreRevision(value: Record<string, unknown>): Record<string, unknown> {
  // Without items, a list in protobuf has null there.
  const isList = value['items'] === null || Array.isArray(value['items']) || Array.isArray(value['rows']);
  const metadata = value['metadata'];
  if (isList && isObject(metadata) && isRevision(metadata['resourceVersion']))
    return { ...value, metadata: { ...metadata, resourceVersion: '<rv of the store>' } };
  const object = value['object'];
  if (value['type'] !== 'BOOKMARK' || !isObject(object) || !isObject(object['metadata'])) return value;
  const bookmarked = { ...object['metadata'], resourceVersion: '<rv of the store>' };
  return { ...value, object: { ...object, metadata: bookmarked } };
}

function managedKey(entry: unknown): string {
  if (!isObject(entry)) return '';
  return [entry['operation'], entry['manager'], entry['subresource'] ?? '', entry['apiVersion']].join(' ');
}

function decoded(token: string): string {
  return Buffer.from(token, 'base64url').toString('utf8');
}

function continueToken(text: string): string {
  return `<continue ${text.replace(/"rv":\d+/, '"rv":<rv>')}>`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRevision(value: unknown): boolean {
  return typeof value === 'string' && /^[1-9]\d*$/.test(value);
}
