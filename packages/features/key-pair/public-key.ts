import { createHash } from 'node:crypto';

/** Why a text is no public key. The message says what is wrong, `wayOut` what to do. */
export class PublicKeyProblem extends Error {
  override readonly name = 'PublicKeyProblem';
  readonly wayOut: string;

  constructor(message: string, wayOut = pasteIt) {
    super(message);
    this.wayOut = wayOut;
  }
}

/** A public key as OpenSSH writes it. */
export interface PublicKey {
  /** e.g. `ssh-ed25519`. */
  readonly type: string;
  readonly fingerPrint: string;
}

const pasteIt = 'Paste the whole line of the file that ends in .pub, such as ~/.ssh/id_ed25519.pub.';
const makeAnother = 'Make another key with ssh-keygen -t ed25519, and paste the line of its .pub file.';

const curves: Readonly<Record<string, number>> = { nistp256: 65, nistp384: 97, nistp521: 133 };

/** What follows the name of a type in its bytes. */
const readers: Readonly<Record<string, (bytes: ByteReader) => void>> = {
  'ssh-rsa': readRsa,
  'ssh-ed25519': readEd25519,
  'ecdsa-sha2-nistp256': (bytes) => readPoint(bytes, 'nistp256'),
  'ecdsa-sha2-nistp384': (bytes) => readPoint(bytes, 'nistp384'),
  'ecdsa-sha2-nistp521': (bytes) => readPoint(bytes, 'nistp521'),
  'sk-ssh-ed25519@openssh.com'(bytes) {
    readEd25519(bytes);
    bytes.text();
  },
  'sk-ecdsa-sha2-nistp256@openssh.com'(bytes) {
    readPoint(bytes, 'nistp256');
    bytes.text();
  },
};

/**
 * The first key of a text in the form of `authorized_keys`: empty lines and comments are passed over, options may stand
 * before the key. @throws PublicKeyProblem
 */
export function readPublicKey(text: string): PublicKey {
  if (text.includes('PRIVATE KEY-----'))
    throw new PublicKeyProblem('this is a private key', `Keep it secret. ${pasteIt}`);
  const line = text
    .split('\n')
    .map((each) => each.trim())
    .find((each) => each !== '' && !each.startsWith('#'));
  if (line === undefined) throw new PublicKeyProblem('the public key is missing');
  const [type = '', encoded = ''] = keyWords(line);
  const read = readers[type];
  if (!read) throw unknownType(type);
  const blob = Buffer.from(encoded, 'base64');
  if (encoded === '' || blob.toString('base64') !== encoded)
    throw new PublicKeyProblem(`what follows ${type} is no base64: the line is not whole`);
  const bytes = new ByteReader(blob);
  if (bytes.text() !== type)
    throw new PublicKeyProblem(`the key says that it is of another type than ${type}`);
  read(bytes);
  bytes.end();
  return { type, fingerPrint: fingerPrintOf(blob) };
}

/** Type and bytes. Options, which may have blanks within quotes, end before them. */
function keyWords(line: string): readonly string[] {
  const words = line.split(/[ \t]+/);
  const start = words[0] !== undefined && Object.hasOwn(readers, words[0]) ? 0 : optionsEnd(line);
  return start === 0 ? words : line.slice(start).split(/[ \t]+/);
}

/** Where options end; 0 if what follows is no key either. */
function optionsEnd(line: string): number {
  const options = /^(?:[^\s"]|"(?:[^"\\]|\\.)*")+[ \t]+/.exec(line)?.[0] ?? '';
  const type = line.slice(options.length).split(/[ \t]/, 1)[0] ?? '';
  return Object.hasOwn(readers, type) ? options.length : 0;
}

function unknownType(type: string): PublicKeyProblem {
  if (type.endsWith('-cert-v01@openssh.com'))
    return new PublicKeyProblem('this is a certificate, not the key itself', pasteIt);
  if (type === 'ssh-dss')
    return new PublicKeyProblem('DSA keys are too weak: no guest takes them', makeAnother);
  return new PublicKeyProblem('this is no public key in OpenSSH format', pasteIt);
}

function readRsa(bytes: ByteReader): void {
  const exponent = bytes.integer();
  const modulus = bytes.integer();
  const isOdd = exponent.length > 0 && exponent.length <= 3 && (exponent.at(-1) ?? 0) % 2 === 1;
  if (!isOdd || (exponent.length === 1 && exponent[0] === 1))
    throw new PublicKeyProblem('the exponent of the RSA key is not usable', makeAnother);
  if (modulus.length < 128) throw new PublicKeyProblem('the RSA key has fewer than 1024 bits', makeAnother);
}

function readEd25519(bytes: ByteReader): void {
  if (bytes.string().length !== 32) throw damaged();
}

function readPoint(bytes: ByteReader, curve: string): void {
  if (bytes.text() !== curve) throw damaged();
  const point = bytes.string();
  if (point.length !== curves[curve] || point[0] !== 4) throw damaged();
}

/** MD5 in pairs with colons: as OpenSSH did it before 6.8, and clients of this kind know it. */
function fingerPrintOf(blob: Uint8Array): string {
  const digest = createHash('md5').update(blob).digest('hex');
  return (digest.match(/../g) ?? []).join(':');
}

/** The wire form of RFC 4251: each item goes after its length. */
class ByteReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  string(): Uint8Array {
    if (this.#bytes.length < this.#offset + 4) throw damaged();
    const start = this.#offset + 4;
    const end = start + this.#bytes.readUInt32BE(this.#offset);
    if (end > this.#bytes.length) throw damaged();
    this.#offset = end;
    return this.#bytes.subarray(start, end);
  }

  text(): string {
    return Buffer.from(this.string()).toString('latin1');
  }

  /** The bytes of a positive number, without leading zeros. */
  integer(): Uint8Array {
    const bytes = this.string();
    if (bytes.length === 0 || (bytes[0] ?? 0) > 127) throw damaged();
    return bytes[0] === 0 ? bytes.subarray(1) : bytes;
  }

  end(): void {
    if (this.#offset !== this.#bytes.length) throw damaged();
  }
}

function damaged(): PublicKeyProblem {
  return new PublicKeyProblem('the key is damaged: the line is not whole');
}

/** A public RSA key, as a JSON Web Key has it, in the form of `authorized_keys`. */
export function rsaLine({ n, e }: { readonly n: string; readonly e: string }): string {
  const parts = [Buffer.from('ssh-rsa'), unsigned(e), unsigned(n)];
  const blob = Buffer.concat(parts.flatMap((part) => [lengthOf(part), part]));
  return `ssh-rsa ${blob.toString('base64')}\n`;
}

/** A leading zero keeps a number positive. */
function unsigned(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url');
  return (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
}

function lengthOf(part: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(part.length);
  return length;
}
