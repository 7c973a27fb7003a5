import { isJsonObject, type JsonObject, type JsonValue, type Random, toError } from '@sheaf/base';
import { StoreFault } from '@sheaf/store';
import { type SealingKey, sealingKey } from './sealing-transformer.ts';

export const keyFileName = 'encryption-key.json';

/** How far a resource's records are. */
export interface SealedState {
  /** The key that all its records are sealed with. */
  readonly sealedWith?: string;
  /** History before this revision may hold records that were never sealed. */
  readonly plainUntil?: number;
}

/** `encryption-key.json`: the keys, the first of which seals, and what is sealed (by `plural` or `plural.group`). */
export interface KeyFile {
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  readonly resources: Readonly<Record<string, SealedState>>;
}

const secretLength = 32;

export function newKeyFile(random: Random, resources: KeyFile['resources']): KeyFile {
  return { keys: [newKey(random)], resources };
}

/** The same with a new first key; what is sealed with the others still opens. */
export function withNewKey(file: KeyFile, random: Random): KeyFile {
  return { ...file, keys: [newKey(random), ...file.keys] };
}

/** All keys of both; `file` keeps its first one. */
export function withKeysOf(file: KeyFile, other: KeyFile): KeyFile {
  const known = new Set(file.keys.map(({ id }) => id));
  return { ...file, keys: [...file.keys, ...other.keys.filter(({ id }) => !known.has(id))] };
}

export function sealingKeys(file: KeyFile): SealingKey[] {
  return file.keys.map(({ id, secret }) => sealingKey(id, Buffer.from(secret, 'base64')));
}

export function keyFileText(file: KeyFile): string {
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** @throws StoreFault when it cannot be read */
export function readKeyFile(text: string): KeyFile {
  try {
    const value = JSON.parse(text) as JsonValue;
    if (!isJsonObject(value)) throw new Error('it is not an object');
    return { keys: readKeys(value['keys']), resources: readResources(value['resources']) };
  } catch (error) {
    throw new StoreFault('corrupt', `${keyFileName} cannot be used: ${toError(error).message}`, {
      wayOut:
        'Put back the file as it was, e.g. from a backup. Without its keys the sealed objects are lost.',
      cause: error,
    });
  }
}

function newKey(random: Random): KeyFile['keys'][number] {
  return {
    id: Buffer.from(random.bytes(4)).toString('hex'),
    secret: Buffer.from(random.bytes(secretLength)).toString('base64'),
  };
}

function readKeys(value: JsonValue | undefined): KeyFile['keys'] {
  if (!Array.isArray(value) || value.length === 0) throw new Error('it has no keys');
  return value.map((item) => {
    const { id, secret } = isJsonObject(item) ? item : ({} as JsonObject);
    if (typeof id !== 'string' || !/^[0-9a-f]{8}$/.test(id))
      throw new Error('the id of a key is not eight hexadecimal digits');
    if (typeof secret !== 'string' || Buffer.from(secret, 'base64').length !== secretLength)
      throw new Error(`the secret of key ${id} is not 32 bytes in base64`);
    return { id, secret };
  });
}

function readResources(value: JsonValue | undefined): KeyFile['resources'] {
  if (!isJsonObject(value)) throw new Error('it names no resources');
  const entries = Object.entries(value).map(([name, state]): [string, SealedState] => {
    const { sealedWith, plainUntil } = isJsonObject(state) ? state : ({} as JsonObject);
    return [
      name,
      {
        ...(typeof sealedWith === 'string' ? { sealedWith } : {}),
        ...(typeof plainUntil === 'number' ? { plainUntil } : {}),
      },
    ];
  });
  return Object.fromEntries(entries);
}
