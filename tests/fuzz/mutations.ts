import type { Random } from '@sheaf/base';

/** Text that parsers stumble over. */
export const oddTexts = [
  '',
  '\u0000',
  '__proto__',
  'constructor',
  '../..',
  '%00',
  '%',
  '%zz',
  'a'.repeat(5000),
  '💥',
  '\ud800',
  '-1',
  '9007199254740993',
  '1e999',
  'null',
  '[]',
  '{}',
  'a=b,c in (d',
  'a,,b',
  '!',
  "'",
  '"',
  '\\',
  '$patch',
  'metadata.name=x\\',
  '{"$patch":"delete"}',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9',
] as const;

const oddValues: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  'x',
  [],
  [[]],
  {},
  { a: null },
  { __proto__x: 1 },
  { $patch: 'replace' },
  { $patch: 'nonsense' },
  { $retainKeys: 3 },
  { '$setElementOrder/containers': [{}] },
  { '$deleteFromPrimitiveList/finalizers': 'x' },
  'Z'.repeat(300),
];

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.integer(items.length)] as T;
}

/** The value with a few things changed, taken away, repeated or put where they do not belong. */
export function mutateValue(random: Random, value: unknown, depth = 0): unknown {
  if (random.integer(12) === 0) return pick(random, oddValues);
  if (Array.isArray(value)) return mutateList(random, value, depth);
  if (typeof value !== 'object' || value === null)
    return random.integer(8) === 0 ? pick(random, oddValues) : value;
  const entries = Object.entries(value).flatMap(([key, item]) => mutateEntry(random, [key, item], depth));
  if (random.integer(10) === 0) entries.push([pick(random, oddTexts), pick(random, oddValues)]);
  return Object.fromEntries(entries);
}

function mutateList(random: Random, value: readonly unknown[], depth: number): unknown[] {
  const items = value.map((item) => mutateValue(random, item, depth + 1));
  if (random.integer(6) === 0) items.push(pick(random, oddValues));
  return random.integer(10) === 0 ? [...items, ...items] : items;
}

function mutateEntry(random: Random, [key, item]: [string, unknown], depth: number): [string, unknown][] {
  switch (random.integer(14)) {
    case 0:
      return [];
    case 1:
      return [[pick(random, oddTexts), item]];
    case 2:
      return [
        [key, item],
        [`${key}x`, item],
      ];
    default:
      return [[key, mutateValue(random, item, depth + 1)]];
  }
}

/** The bytes with some flipped, cut, repeated or wrapped. */
export function mutateBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  switch (random.integer(6)) {
    case 0:
      return copy.subarray(0, random.integer(copy.length + 1));
    case 1:
      return Buffer.concat([copy, copy]);
    case 2:
      return Buffer.concat([Buffer.from('['.repeat(random.integer(3000))), copy]);
    default:
      for (let count = random.integer(6); count >= 0 && copy.length > 0; count--)
        copy[random.integer(copy.length)] = random.integer(256);
      return copy;
  }
}
