import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Clock, isJsonObject, type Random } from '@sheaf/base';

/** One claim, and none that is made later under its name. */
export interface UploadTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const lifeSeconds = 300;
const header = encode({ alg: 'HS256', typ: 'JWT' });
const audience = 'upload.cdi.kubevirt.io';

/**
 * Gives out tokens for one upload each place, and knows them again for five minutes. The key is of this process alone, and kept
 * nowhere: after a restart a client asks for a new token.
 */
export class UploadTokens {
  readonly #clock: Clock;
  readonly #key: Uint8Array;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#key = random.bytes(32);
  }

  issue({ namespace, name, uid }: UploadTarget): string {
    const exp = this.#seconds() + lifeSeconds;
    const body = `${header}.${encode({ aud: audience, namespace, name, uid, exp })}`;
    return `${body}.${this.#sign(body)}`;
  }

  /** `undefined`: not ours, changed, or too old. */
  targetOf(token: string): UploadTarget | undefined {
    const end = token.lastIndexOf('.');
    const body = token.slice(0, Math.max(0, end));
    const [first, claims = ''] = body.split('.');
    if (first !== header || !isSame(token.slice(end + 1), this.#sign(body))) return undefined;
    return readTarget(claims, this.#seconds());
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url');
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function readTarget(claims: string, nowSeconds: number): UploadTarget | undefined {
  const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  if (!isJsonObject(value)) return undefined;
  const { aud, namespace, name, uid, exp } = value;
  if (aud !== audience || typeof exp !== 'number' || exp <= nowSeconds) return undefined;
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string') return undefined;
  return { namespace, name, uid };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
