import type { Issue } from './issues.ts';

export type TokenKind =
  | 'end'
  | 'identifier'
  | 'quoted'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'symbol';

export interface Token {
  readonly kind: TokenKind;
  /** The source text of the token; for a quoted identifier the name. */
  readonly text: string;
  readonly offset: number;
}

const space = /(?:[ \t\r\n\f]+|\/\/[^\n]*)+/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const quoted = /`[A-Za-z0-9_.\-/ ]+`/y;
const number = /0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?/y;
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\](){}.,\-!?:+*/%]/y;
const stringStart = /[rRbB]{0,2}(?="|')/y;

export interface Tokens {
  /** The last is of kind `end`. */
  readonly tokens: readonly Token[];
  /** What is no token; it is passed over. */
  readonly issues: readonly Issue[];
}

const maxIssues = 10;

/** All tokens of a source. */
export function tokenize(source: string): Tokens {
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  let position = skip(space, source, 0);
  while (position < source.length && issues.length < maxIssues) {
    const token = nextToken(source, position);
    if ('message' in token) issues.push({ offset: token.offset, message: token.message });
    else tokens.push(token);
    position = skip(space, source, 'message' in token ? token.end : endOf(token));
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: source.length });
  return { tokens, issues };
}

/** A part of the source that is no token. */
interface NoToken extends Issue {
  readonly end: number;
}

function endOf(token: Token): number {
  return token.offset + token.text.length + (token.kind === 'quoted' ? 2 : 0);
}

function skip(pattern: RegExp, source: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.test(source) ? pattern.lastIndex : position;
}

function match(pattern: RegExp, source: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(source)?.[0];
}

function nextToken(source: string, offset: number): Token | NoToken {
  const prefix = match(stringStart, source, offset);
  if (prefix !== undefined) return stringToken(source, offset, prefix);
  const name = match(identifier, source, offset);
  if (name !== undefined) return { kind: 'identifier', text: name, offset };
  const escaped = match(quoted, source, offset);
  if (escaped !== undefined) return { kind: 'quoted', text: escaped.slice(1, -1), offset };
  const digits = match(number, source, offset);
  if (digits !== undefined) return { kind: numberKind(digits), text: digits, offset };
  const punctuation = match(symbol, source, offset);
  if (punctuation !== undefined) return { kind: 'symbol', text: punctuation, offset };
  const character = String.fromCodePoint(source.codePointAt(offset) ?? 0);
  // The lexer upstream has begun to read `&&`, `||` or `==`.
  const isHalf = character === '&' || character === '|' || character === '=';
  return unrecognized(offset, isHalf ? source.slice(offset, offset + 2) : character);
}

function numberKind(digits: string): TokenKind {
  if (/[uU]$/.test(digits)) return 'uint';
  if (digits.startsWith('0x')) return 'int';
  return /[.eE]/.test(digits) ? 'double' : 'int';
}

function unrecognized(offset: number, text: string): NoToken {
  const shown = text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  return {
    offset,
    end: offset + text.length,
    message: `Syntax error: token recognition error at: '${shown}'`,
  };
}

function stringToken(source: string, offset: number, prefix: string): Token | NoToken {
  const start = offset + prefix.length;
  const quote = source.charAt(start);
  const isTriple = source.startsWith(quote.repeat(3), start);
  const closing = isTriple ? quote.repeat(3) : quote;
  const isRaw = /r/i.test(prefix);
  let position = start + closing.length;
  while (!source.startsWith(closing, position)) {
    const char = source.charAt(position);
    if (char === '' || (!isTriple && (char === '\n' || char === '\r')))
      return unrecognized(offset, source.slice(offset, position + 1));
    position += char === '\\' && !isRaw ? 2 : 1;
  }
  const text = source.slice(offset, position + closing.length);
  return { kind: /b/i.test(prefix) ? 'bytes' : 'string', text, offset };
}
