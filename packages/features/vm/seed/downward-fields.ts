import { isJsonObject, type JsonValue } from '@sheaf/base';
import type { VirtualMachineInstance } from '../virtual-machine.ts';
import type { KeyedFiles } from './seed-image.ts';

/** The files of a downwardAPI volume: what its `items` name of the instance's own metadata. Anything else is left empty. */
export function downwardFilesOf(fields: unknown, { metadata }: VirtualMachineInstance): KeyedFiles {
  const items = Array.isArray(fields) ? (fields as readonly JsonValue[]) : [];
  const entries = items.flatMap((item) => {
    if (!isJsonObject(item) || typeof item['path'] !== 'string') return [];
    const reference = item['fieldRef'];
    const path = isJsonObject(reference) ? reference['fieldPath'] : undefined;
    return [[item['path'], new TextEncoder().encode(valueOf(path, metadata))] as const];
  });
  return Object.fromEntries(entries);
}

type Metadata = VirtualMachineInstance['metadata'];

function valueOf(path: JsonValue | undefined, metadata: Metadata): string {
  if (typeof path !== 'string') return '';
  const read = fields.get(path);
  return read ? read(metadata) : keyedValueOf(path, metadata);
}

const fields: ReadonlyMap<string, (metadata: Metadata) => string> = new Map([
  ['metadata.name', ({ name }) => name ?? ''],
  ['metadata.namespace', ({ namespace }) => namespace ?? ''],
  ['metadata.uid', ({ uid }) => uid ?? ''],
  ['metadata.labels', ({ labels }) => linesOf(labels)],
  ['metadata.annotations', ({ annotations }) => linesOf(annotations)],
]);

function keyedValueOf(path: string, { labels = {}, annotations = {} }: Metadata): string {
  const [, kind, key = ''] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (kind === undefined) return '';
  return (kind === 'labels' ? labels : annotations)[key] ?? '';
}

/** As pods see them: `key="value"`, sorted. */
function linesOf(values: Readonly<Record<string, string>> = {}): string {
  const keys = Object.keys(values).sort((a, b) => (a < b ? -1 : 1));
  return keys.map((key) => `${key}=${JSON.stringify(values[key])}`).join('\n');
}
