/**
 * Records how the Go libraries treat mutated objects, selectors, names, quantities and YAML. The mutations are drawn
 * from a seed and are the same in each run. Usage: node record-cases.ts ORACLE_BINARY
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@sheaf/base';

const [oracle] = process.argv.slice(2);
if (oracle === undefined) throw new Error('usage: record-cases.ts ORACLE_BINARY');
const root = join(import.meta.dirname, '..');

let state = 20261121;
function random(below: number): number {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return (state >> 8) % below;
}

function pick<T>(items: readonly T[]): T {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

interface Question extends JsonObject {
  op: string;
  text: string;
}

function record(file: string, questions: readonly Question[]): void {
  const input = questions.map((question) => JSON.stringify(question)).join('\n');
  const { stdout } = spawnSync(oracle ?? '', { input, maxBuffer: 1 << 28 });
  const answers = stdout.toString().trim().split('\n');
  const lines = questions.map((question, index) => `[${JSON.stringify(question)},${answers[index]}]`);
  writeFileSync(join(root, file), `${lines.join('\n')}\n`);
}

const junk: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  3e9,
  1e20,
  '',
  'x',
  '0.5',
  '1024Mi',
  '1Zi',
  '1e3',
  '25%',
  '!!',
  '2020-01-01T00:00:00+02:00',
  '2020-02-30T00:00:00Z',
  '2020-01-01T00:00:00.123456Z',
  '2020-01-01T25:00:00Z',
  '0001-01-01T00:00:00Z',
  '2020-01-01t00:00:00Z',
  '2020-01-01T00:00:00.5Z',
  'aGVsbG8=',
  'aGVsbG9=',
  'aGVs\r\nbG8=',
  [],
  [null],
  ['a'],
  [1],
  [{}],
  [[]],
  {},
  { a: null },
  { a: 'b' },
  { a: 1 },
];

type Path = readonly (string | number)[];

function paths(value: JsonValue, path: Path, into: Path[]): Path[] {
  if (path.length > 0) into.push(path);
  if (Array.isArray(value)) value.forEach((item, index) => paths(item, [...path, index], into));
  else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      if (path.length > 0 || (key !== 'kind' && key !== 'apiVersion'))
        paths(value[key] ?? null, [...path, key], into);
    }
  }
  return into;
}

function mutate(source: JsonObject): JsonObject {
  const value = structuredClone(source);
  for (let count = 1 + random(3); count > 0; count--) {
    const candidates = paths(value, [], []);
    if (candidates.length > 0) change(value, pick(candidates));
  }
  return value;
}

function change(value: JsonObject, path: Path): void {
  let owner = value as Record<string | number, JsonValue>;
  for (const key of path.slice(0, -1)) owner = owner[key] as unknown as Record<string | number, JsonValue>;
  const key = path.at(-1) ?? '';
  const dice = random(10);
  if (dice < 5) owner[key] = structuredClone(pick(junk));
  else if (Array.isArray(owner)) (owner as JsonValue[]).push(structuredClone(pick(junk)));
  else if (dice < 7) delete owner[key];
  else owner[`zork${random(3)}`] = structuredClone(pick(junk));
}

const objects = readFileSync(join(root, 'protobuf', 'fixtures', 'kinds.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { json: JsonObject }).json)
  .filter(
    (object) =>
      JSON.stringify(object).length < 1500 &&
      object['kind'] !== 'PartialObjectMetadata' &&
      object['kind'] !== 'PartialObjectMetadataList',
  );

function decodeQuestion(): Question {
  const object = mutate(pick(objects));
  const { apiVersion = '', kind = '' } = object;
  return { op: 'decode', apiVersion, kind, text: JSON.stringify(object) };
}

function texts(parts: readonly string[], count: number, maxParts: number): string[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + random(maxParts) }, () => pick(parts)).join(''),
  );
}

const long = 'l'.repeat(70);
const labelParts = [
  'a',
  'b.c/d',
  'in',
  'notin',
  '(',
  ')',
  ',',
  '!',
  '=',
  '==',
  '!=',
  '<',
  '>',
  ' ',
  'x y',
  '5',
  '-',
  'A_b',
  'é',
  '\0',
  '1a',
  '!!',
  'a in (b,c)',
  'x notin ()',
  '-bad',
  'a/b/c',
  long,
];
const fieldParts = [
  'a',
  'metadata.name',
  '=',
  '!=',
  '==',
  ',',
  '\\',
  '\\,',
  '\\=',
  '\\\\',
  'é',
  'x',
  ' ',
  '!',
];
const nameParts = ['a', 'B', '-', '.', '_', '/', '1', 'é', '%', 'a'.repeat(30), 'b'.repeat(100)];
const quantityParts = [
  '0',
  '1',
  '5',
  '10',
  '999',
  '1024',
  '.',
  '-',
  '+',
  'm',
  'k',
  'Ki',
  'Mi',
  'E',
  'e',
  'n',
  'u',
  '000',
  'Gi',
];
const nameKinds = ['subdomain', 'label', 'service', 'qualified', 'value'];

record('codec/fixtures/decode.jsonl', Array.from({ length: 500 }, decodeQuestion));
record(
  'meta/fixtures/labels.jsonl',
  texts(labelParts, 400, 7).map((text) => ({ op: 'labels', text })),
);
record(
  'meta/fixtures/fields.jsonl',
  texts(fieldParts, 250, 8).map((text) => ({ op: 'fields', text })),
);
record(
  'meta/fixtures/names.jsonl',
  texts(nameParts, 250, 6).map((text) => ({ op: 'names', kind: pick(nameKinds), text })),
);
record(
  'codec/fixtures/quantities.jsonl',
  texts(quantityParts, 500, 4).map((text) => ({ op: 'quantity', text })),
);
