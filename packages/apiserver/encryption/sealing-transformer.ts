import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { type Random, toError } from '@sheaf/base';
import { StoreFault } from '@sheaf/store';
import type { Transformer } from '../storage/transformer.ts';

export interface SealingKey {
  /** Eight hexadecimal digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: KeyObject;
}

export interface SealingOptions {
  /** The first seals; all open. */
  readonly keys: readonly SealingKey[];
  readonly random: Pick<Random, 'bytes'>;
  /** Whether records that were never sealed are accepted: while a store from before encryption is taken over. */
  readonly acceptsPlain: boolean;
}

/** sealed: `sheaf:gcm1:KEYID:` nonce (12 bytes) tag (16 bytes) ciphertext; authenticated with the record's key. */
const mark = Buffer.from('sheaf:gcm1:');
const idLength = 8;
const nonceStart = mark.length + idLength + 1;
const nonceLength = 12;
const tagStart = nonceStart + nonceLength;
const tagLength = 16;
const contentStart = tagStart + tagLength;
const algorithm = 'aes-256-gcm';

export function sealingKey(id: string, secret: Uint8Array): SealingKey {
  return { id, key: createSecretKey(secret) };
}

/** The id of the key that sealed these bytes; `undefined`: they are not sealed. */
export function sealedWith(bytes: Uint8Array): string | undefined {
  const record = bufferOf(bytes);
  if (!record.subarray(0, mark.length).equals(mark)) return undefined;
  return record.toString('latin1', mark.length, mark.length + idLength);
}

/** AES-256-GCM. A record that was changed, or moved to another place, does not open. */
export class SealingTransformer implements Transformer {
  readonly #options: SealingOptions;
  readonly #first: SealingKey;

  /** @throws Error without a key */
  constructor(options: SealingOptions) {
    const [first] = options.keys;
    if (!first) throw new Error('a key is needed to seal with');
    this.#options = options;
    this.#first = first;
  }

  seal(plain: Uint8Array, key: string): Uint8Array {
    const nonce = this.#options.random.bytes(nonceLength);
    const cipher = createCipheriv(algorithm, this.#first.key, nonce, { authTagLength: tagLength });
    cipher.setAAD(Buffer.from(key));
    const content = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([mark, Buffer.from(`${this.#first.id}:`), nonce, cipher.getAuthTag(), content]);
  }

  open(sealed: Uint8Array, key: string): Uint8Array {
    const id = sealedWith(sealed);
    if (id === undefined) {
      if (this.#options.acceptsPlain) return sealed;
      throw new StoreFault(
        'corrupt',
        `${key} lies open in the store although it should be sealed`,
        'Someone may have written to the store behind the server. Restore a backup with `sheaf restore`.',
      );
    }
    const found = this.#options.keys.find((item) => item.id === id);
    if (!found) throw unknownKey(key, id);
    return opened(bufferOf(sealed), key, found);
  }
}

export function unknownKey(key: string, id: string): StoreFault {
  return new StoreFault(
    'corrupt',
    `${key} is sealed with the key ${id}, which is not here`,
    'Put that key back into certificates/encryption-key.json of the data directory, e.g. from a backup: `sheaf restore` does so when the backup was made with its keys.',
  );
}

function opened(record: Buffer, key: string, { key: secret }: SealingKey): Buffer {
  try {
    const nonce = record.subarray(nonceStart, tagStart);
    const decipher = createDecipheriv(algorithm, secret, nonce, { authTagLength: tagLength });
    decipher.setAAD(Buffer.from(key));
    decipher.setAuthTag(record.subarray(tagStart, contentStart));
    return Buffer.concat([decipher.update(record.subarray(contentStart)), decipher.final()]);
  } catch (error) {
    throw new StoreFault('corrupt', `${key} cannot be opened: it was changed after it was sealed`, {
      wayOut: 'Restore a backup with `sheaf restore`.',
      cause: toError(error),
    });
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
