import type { Random } from '@sheaf/base';
import { RevisionConflict, type Store, type StoreRecord } from '@sheaf/store';
import type { CertificateFiles } from '../certificates/index.ts';
import { resourcePrefix } from '../storage/keyspace.ts';
import type { Transformer } from '../storage/transformer.ts';
import {
  type KeyFile,
  keyFileName,
  keyFileText,
  newKeyFile,
  readKeyFile,
  type SealedState,
  sealingKeys,
} from './key-file.ts';
import { SealingTransformer, sealedWith, unknownKey } from './sealing-transformer.ts';

export interface EncryptionOptions {
  readonly store: Store;
  readonly files: CertificateFiles;
  readonly random: Random;
  /** What a new key file seals: `plural` or `plural.group`. Default: secrets. */
  readonly resources?: readonly string[];
}

export interface Encryption {
  /** For the API server, by resource. */
  readonly transformers: ReadonlyMap<string, Transformer>;
  /**
   * Seals with the first key what is sealed with another one, or not at all. Resolves with the number of records written; does
   * nothing when that has been done. May run while the server serves. @throws StoreFault
   */
  reseal(signal?: AbortSignal): Promise<number>;
}

const pageSize = 200;

/** Reads the keys, or makes them for a store that has none. @throws StoreFault when keys are missing or damaged */
export async function openEncryption(options: EncryptionOptions): Promise<Encryption> {
  const { store, files, random } = options;
  const text = await files.read(keyFileName);
  let file = text === undefined ? await firstKeyFile(options) : withoutOldHistory(readKeyFile(text), store);
  if (text !== keyFileText(file)) await files.write(keyFileName, keyFileText(file));
  const keys = sealingKeys(file);
  const transformers = new Map<string, Transformer>();
  for (const [name, state] of Object.entries(file.resources)) {
    const acceptsPlain = state.sealedWith === undefined || state.plainUntil !== undefined;
    transformers.set(name, new SealingTransformer({ keys, random, acceptsPlain }));
  }
  const first = file.keys[0]?.id ?? '';
  return {
    transformers,
    async reseal(signal) {
      let count = 0;
      for (const [name, transformer] of transformers) {
        const state = file.resources[name] ?? {};
        if (state.sealedWith === first) continue;
        const done = await resealResource({ store, transformer, prefix: prefixOf(name), first, signal });
        count += done.count;
        const next: SealedState = {
          sealedWith: first,
          ...(done.hadPlain || state.sealedWith === undefined
            ? { plainUntil: store.revision }
            : plainUntilOf(state)),
        };
        file = { ...file, resources: { ...file.resources, [name]: next } };
        await files.write(keyFileName, keyFileText(file));
      }
      return count;
    },
  };
}

function plainUntilOf({ plainUntil }: SealedState): SealedState {
  return plainUntil === undefined ? {} : { plainUntil };
}

/** A store without keys is new, or from before encryption; if it holds sealed records, its keys are lost. */
async function firstKeyFile({ store, random, resources = ['secrets'] }: EncryptionOptions): Promise<KeyFile> {
  const states: Record<string, SealedState> = {};
  const made = newKeyFile(random, {});
  for (const name of resources) {
    const { records } = await store.range({ prefix: prefixOf(name) });
    for (const { key, value } of records) {
      const id = sealedWith(value);
      if (id !== undefined) throw unknownKey(key, id);
    }
    // Also deleted records may lie open in the history.
    const isNew = records.length === 0 && store.compactedRevision >= store.revision - 1;
    states[name] = isNew ? { sealedWith: made.keys[0]?.id ?? '' } : {};
  }
  return { ...made, resources: states };
}

/** Once history before the sealing is gone, nothing that is not sealed is right any more. */
function withoutOldHistory(file: KeyFile, store: Store): KeyFile {
  const resources = Object.entries(file.resources).map(([name, { sealedWith: id, plainUntil }]) => {
    const isOver = plainUntil === undefined || store.compactedRevision >= plainUntil;
    return [name, { ...(id ? { sealedWith: id } : {}), ...(isOver ? {} : { plainUntil }) }];
  });
  return { ...file, resources: Object.fromEntries(resources) as KeyFile['resources'] };
}

function prefixOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? resourcePrefix('', name) : resourcePrefix(name.slice(dot + 1), name.slice(0, dot));
}

interface Resealing {
  readonly store: Store;
  readonly transformer: Transformer;
  readonly prefix: string;
  readonly first: string;
  readonly signal: AbortSignal | undefined;
}

async function resealResource(work: Resealing): Promise<{ count: number; hadPlain: boolean }> {
  let count = 0;
  let hadPlain = false;
  let from: string | undefined;
  for (;;) {
    const page = await work.store.range({ prefix: work.prefix, limit: pageSize, ...(from ? { from } : {}) });
    for (const record of page.records) {
      work.signal?.throwIfAborted();
      const id = sealedWith(record.value);
      if (id === undefined) hadPlain = true;
      if (id !== work.first && (await resealRecord(work, record))) count++;
    }
    const last = page.records.at(-1);
    if (!page.hasMore || !last) return { count, hadPlain };
    from = `${last.key}\u0000`;
  }
}

/** False: someone else has just written it, with the first key. */
async function resealRecord({ store, transformer }: Resealing, record: StoreRecord): Promise<boolean> {
  const { key, revision } = record;
  const value = transformer.seal(transformer.open(record.value, key), key);
  try {
    await store.commit({ key, value, expected: revision });
    return true;
  } catch (error) {
    if (error instanceof RevisionConflict) return false;
    throw error;
  }
}
