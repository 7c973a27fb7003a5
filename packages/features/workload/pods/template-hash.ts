import type { PodTemplateSpec } from '@sheaf/api/workload/index';

/** No vowels, and nothing that looks like another letter. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * The label value that tells revisions of a template apart: FNV-1a of its JSON with sorted fields, spelled as upstream spells its
 * own hash. `collisions` gives another value for the same template.
 */
export function templateHash(template: PodTemplateSpec, collisions = 0): string {
  const text = JSON.stringify(sorted(template)) + (collisions > 0 ? ` ${collisions}` : '');
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return String(hash).replaceAll(/./g, (digit) => letters.charAt(digit.charCodeAt(0) % letters.length));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]),
  );
}
