/** A step of a JSONPath, as kubectl understands it. */
export type PathNode =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'union'; readonly branches: readonly Path[] }
  | { readonly kind: 'filter'; readonly left: Path; readonly operator: string; readonly right: Path }
  | { readonly kind: 'constant'; readonly value: string | number | boolean }
  /** A bare word, which can be read but not evaluated. */
  | { readonly kind: 'word'; readonly word: string };

export type Path = readonly PathNode[];

/** `[start:end:step]`; what is `undefined` was left out. `isIndex`: a single index. */
export interface Slice {
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly step: number | undefined;
  readonly isIndex: boolean;
}

/** A path that cannot be read. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

const maxPathLength = 4096;
const maxNesting = 16;

/** Parses the inside of `{…}`. Throws JsonPathError. */
export function parsePath(text: string, nesting = 0): Path {
  if (text.length > maxPathLength) throw new JsonPathError(`path is longer than ${maxPathLength} characters`);
  if (nesting > maxNesting) throw new JsonPathError('path is nested too deep');
  const reader: Reader = { text, position: 0, nesting };
  const nodes: PathNode[] = [];
  while (reader.position < text.length) readNext(reader, nodes);
  return nodes;
}

interface Reader {
  readonly text: string;
  position: number;
  readonly nesting: number;
}

function readNext(reader: Reader, nodes: PathNode[]): void {
  const { text, position } = reader;
  if (text.startsWith('[?(', position)) return readFilter(reader, nodes);
  if (text.startsWith('..', position)) return readRecursive(reader, nodes);
  const character = text.charAt(position);
  switch (character) {
    case ' ':
    case '@':
    case '$':
      reader.position++;
      return;
    case '[':
      return readBrackets(reader, nodes);
    case '"':
    case "'":
      return readQuoted(reader, nodes);
    case '.':
      reader.position++;
      return readField(reader, nodes);
    default:
      return readWord(reader, nodes);
  }
}

function readRecursive(reader: Reader, nodes: PathNode[]): void {
  if (nodes.at(-1)?.kind === 'recursive') throw new JsonPathError('invalid multiple recursive descent');
  nodes.push({ kind: 'recursive' });
  reader.position += 2;
  if (/^[\p{L}\p{Nd}_]/u.test(reader.text.slice(reader.position, reader.position + 2))) {
    readField(reader, nodes);
  }
}

const terminators = /[ \t\r\n.,[\]$@{}]/;

function readField(reader: Reader, nodes: PathNode[]): void {
  let name = '';
  while (reader.position < reader.text.length) {
    const character = reader.text.charAt(reader.position);
    if (terminators.test(character)) break;
    reader.position++;
    if (character !== '\\') name += character;
    else if (reader.position < reader.text.length) name += reader.text.charAt(reader.position++);
  }
  nodes.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') });
}

function readWord(reader: Reader, nodes: PathNode[]): void {
  const rest = reader.text.slice(reader.position);
  const number = /^[+-]?[\d.]+/.exec(rest)?.[0];
  if (number !== undefined) {
    const value = Number(number);
    if (Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${number}`);
    nodes.push({ kind: 'constant', value });
    reader.position += number.length;
    return;
  }
  const word = /^[\p{L}\p{Nd}_][^ \t\r\n.,[\]$@{}]*/u.exec(rest)?.[0];
  if (word === 'true' || word === 'false') {
    nodes.push({ kind: 'constant', value: word === 'true' });
    reader.position += word.length;
    return;
  }
  if (word !== undefined) {
    nodes.push({ kind: 'word', word });
    reader.position += word.length;
    return;
  }
  throw new JsonPathError(`unrecognized character in action: ${JSON.stringify(rest.charAt(0))}`);
}

/** The end of a quoted text that starts at `start`, after its closing quote. */
function endOfQuote(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let i = start + 1; i < text.length; i++) {
    if (text.charAt(i) === '\n') break;
    if (text.charAt(i) === quote && text.charAt(i - 1) !== '\\') return i + 1;
  }
  throw new JsonPathError('unterminated quoted string');
}

function readQuoted(reader: Reader, nodes: PathNode[]): void {
  const end = endOfQuote(reader.text, reader.position);
  const inside = reader.text.slice(reader.position + 1, end - 1);
  nodes.push({ kind: 'constant', value: unquote(inside) });
  reader.position = end;
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function unquote(text: string): string {
  return text.replace(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/gs, (sequence) => {
    if (sequence.length > 2) return String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
    const character = sequence.charAt(1);
    return escapes[character] ?? character;
  });
}

function readBrackets(reader: Reader, nodes: PathNode[]): void {
  const end = reader.text.indexOf(']', reader.position);
  const inside = reader.text.slice(reader.position + 1, end < 0 ? undefined : end);
  if (end < 0 || inside.includes('\n')) throw new JsonPathError('unterminated array');
  reader.position = end + 1;
  const parts = inside.split(',');
  if (parts.length > 1) {
    const branches = parts.map((part) => parsePath(`[${part.trim()}]`, reader.nesting + 1));
    nodes.push({ kind: 'union', branches });
    return;
  }
  const key = /^'([^']*)'$/.exec(inside)?.[1];
  if (key === undefined) nodes.push({ kind: 'slice', slice: readSlice(inside === '*' ? ':' : inside) });
  else nodes.push(...parsePath(`.${key}`, reader.nesting + 1));
}

function readSlice(text: string): Slice {
  const parts = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (parts === null) throw new JsonPathError(`invalid array index ${text}`);
  const [, start = '', end, step] = parts;
  return {
    start: readIndex(start),
    end: end === undefined ? undefined : readIndex(end.slice(1)),
    step: step === undefined ? undefined : readIndex(step.slice(1)),
    isIndex: end === undefined,
  };
}

function readIndex(text: string): number | undefined {
  if (text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new JsonPathError(`array index ${text} is not a number`);
  return value;
}

function readFilter(reader: Reader, nodes: PathNode[]): void {
  const start = reader.position + 3;
  const end = endOfFilter(reader.text, start);
  const inside = reader.text.slice(start, end);
  if (reader.text.charAt(end + 1) !== ']') throw new JsonPathError('unclosed array expect ]');
  reader.position = end + 2;
  const nesting = reader.nesting + 1;
  const parts = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(inside);
  if (parts === null) {
    nodes.push({ kind: 'filter', left: parsePath(inside, nesting), operator: 'exists', right: [] });
    return;
  }
  const [, left = '', operator = '', right = ''] = parts;
  nodes.push({ kind: 'filter', left: parsePath(left, nesting), operator, right: parsePath(right, nesting) });
}

/** The closing parenthesis of a filter; one inside quotes does not count. */
function endOfFilter(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '\n') break;
    if (character === ')') return i;
    if (character === '"' || character === "'") i = endOfQuote(text, i) - 1;
  }
  throw new JsonPathError('unterminated filter');
}
