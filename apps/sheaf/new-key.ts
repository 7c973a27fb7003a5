import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { NewKey } from '@sheaf/features/key-pair';

/** Made beside the event loop: it takes a good part of a second. */
export async function newKey(): Promise<NewKey> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  return { privateKeyPem: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(), public: { n, e } };
}
