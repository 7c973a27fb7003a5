import { maxInt64, maxUint64, minInt64 } from '../values/number.ts';
import { utf8 } from '../values/text.ts';
import { Uint, type Value } from '../values/value.ts';
import { SyntaxFailure } from './issues.ts';
import type { Token } from './lexer.ts';

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
  '?': '?',
};

const escape =
  /\\(?:([abfnrtv\\"'`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|[^]?)/g;

/** The value of a literal token; `negative` for an integer or double after a minus sign. */
export function literalValue(token: Token, negative = false): Value {
  switch (token.kind) {
    case 'int':
      return intValue(token, negative);
    case 'uint':
      return uintValue(token);
    case 'double':
      return doubleValue(token, negative);
    case 'bytes':
      return bytesValue(token);
    default:
      return stringValue(token);
  }
}

function intValue(token: Token, negative: boolean): bigint {
  const value = negative ? -BigInt(token.text) : BigInt(token.text);
  if (value > maxInt64 || value < minInt64) throw new SyntaxFailure(token.offset, 'invalid int literal');
  return value;
}

function uintValue(token: Token): Uint {
  const value = BigInt(token.text.slice(0, -1));
  if (value > maxUint64) throw new SyntaxFailure(token.offset, 'invalid uint literal');
  return new Uint(value);
}

function doubleValue(token: Token, negative: boolean): number {
  const value = Number(token.text);
  if (!Number.isFinite(value)) throw new SyntaxFailure(token.offset, 'invalid double literal');
  return negative ? -value : value;
}

interface Quoted {
  readonly body: string;
  readonly isRaw: boolean;
}

function quotedBody(text: string): Quoted {
  const prefix = /^[rRbB]*/.exec(text)?.[0] ?? '';
  const rest = text.slice(prefix.length);
  const width = rest.length >= 6 && rest.startsWith(rest.charAt(0).repeat(3)) ? 3 : 1;
  const body = rest.slice(width, rest.length - width);
  return { body: body.replaceAll('\r\n', '\n').replaceAll('\r', '\n'), isRaw: /r/i.test(prefix) };
}

function stringValue(token: Token): string {
  const { body, isRaw } = quotedBody(token.text);
  if (isRaw) return body;
  return body.replace(escape, (...groups: string[]) => {
    const [all = '', plain, hex, short, long, octal] = groups;
    if (plain !== undefined) return simpleEscapes[plain] ?? '';
    const code = hex ?? short ?? long;
    return characterOf(
      token,
      all,
      code === undefined ? octal && Number.parseInt(octal, 8) : Number.parseInt(code, 16),
    );
  });
}

function characterOf(token: Token, text: string, code: number | string | undefined): string {
  const isCharacter = typeof code === 'number' && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!isCharacter)
    throw new SyntaxFailure(token.offset, `Syntax error: token recognition error at: '${text}'`);
  return String.fromCodePoint(code);
}

function bytesValue(token: Token): Uint8Array {
  const { body, isRaw } = quotedBody(token.text);
  if (isRaw) return utf8(body);
  const parts: Uint8Array[] = [];
  let last = 0;
  for (const match of body.matchAll(escape)) {
    parts.push(utf8(body.slice(last, match.index)), byteEscape(token, match));
    last = match.index + match[0].length;
  }
  parts.push(utf8(body.slice(last)));
  return Buffer.concat(parts);
}

function byteEscape(token: Token, match: RegExpMatchArray): Uint8Array {
  const [all, plain, hex, , , octal] = match;
  if (plain !== undefined) return utf8(simpleEscapes[plain] ?? '');
  const digits = hex ?? octal;
  if (digits === undefined)
    throw new SyntaxFailure(token.offset, `Syntax error: token recognition error at: '${all}'`);
  return Uint8Array.of(Number.parseInt(digits, hex === undefined ? 8 : 16));
}
