import { isJsonObject, type JsonObject, jsonEqual } from '@sheaf/base';

/** At most this many are named in a message. */
const most = 10;

/** One line for each field that differs, e.g. `spec.volumeName`; nested objects are looked into. */
export function changedFields(path: string, next: JsonObject, old: JsonObject): string {
  const found: string[] = [];
  collect(found, path, { next, old });
  const shown = found.slice(0, most);
  return [...shown, ...(found.length > most ? [`and ${found.length - most} more`] : [])].join('\n');
}

function collect(found: string[], path: string, { next, old }: { next: JsonObject; old: JsonObject }): void {
  for (const name of new Set([...Object.keys(next), ...Object.keys(old)])) {
    const [a, b] = [next[name], old[name]];
    if (jsonEqual(a, b)) continue;
    if (isJsonObject(a) && isJsonObject(b)) collect(found, `${path}.${name}`, { next: a, old: b });
    else found.push(`${path}.${name}`);
  }
}
