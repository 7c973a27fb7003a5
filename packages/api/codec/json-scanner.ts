/** Malformed JSON; the message is Go's. */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonSyntaxError';
  }
}

/** As many as upstream reports. */
const maxReported = 100;

interface Frame {
  readonly isArray: boolean;
  readonly seen: Set<string>;
  index: number;
  key: string;
}

/**
 * Reads JSON text with Go's rules, for what the runtime's own parser does not tell: which fields occur twice, and in
 * Go's words where the text is malformed. Does not recurse.
 */
export class JsonScanner {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #stack: Frame[] = [];
  readonly #duplicates = new Set<string>();
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  /** The paths of repeated fields, e.g. `metadata.labels.a`. Throws `JsonSyntaxError`. */
  duplicates(): readonly string[] {
    let isOpen = this.#beginValue();
    for (;;) {
      while (isOpen) isOpen = this.#beginMember();
      const top = this.#stack.at(-1);
      if (top === undefined) break;
      isOpen = this.#afterMember(top);
    }
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw this.#invalid('after top-level value');
    return [...this.#duplicates];
  }

  /** Go ends the text with a blank, which breaks off words, numbers and escapes. */
  #broken(context: string): JsonSyntaxError {
    if (this.#at >= this.#text.length) return new JsonSyntaxError(`invalid character ' ' ${context}`);
    return this.#invalid(context);
  }

  #invalid(context: string): JsonSyntaxError {
    if (this.#at >= this.#text.length) return new JsonSyntaxError('unexpected end of JSON input');
    return new JsonSyntaxError(`invalid character ${quoteCharacter(this.#text, this.#at)} ${context}`);
  }

  #skipBlanks(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    }
  }

  /** Reads a value's beginning; true where it is a list or object that is now open. */
  #beginValue(): boolean {
    this.#skipBlanks();
    const char = this.#text.charAt(this.#at);
    if (char === '{' || char === '[') {
      if (this.#stack.length >= this.#maxDepth) throw new JsonSyntaxError('exceeded max depth');
      this.#stack.push({ isArray: char === '[', seen: new Set(), index: 0, key: '' });
      this.#at++;
      return true;
    }
    if (char === '"') this.#string();
    else if (char === '-' || isDigit(char)) this.#number();
    else this.#literal(char);
    return false;
  }

  /** The first member of what was just opened, or its end. True where that member is open in turn. */
  #beginMember(): boolean {
    const top = this.#stack.at(-1);
    if (top === undefined) return false;
    this.#skipBlanks();
    if (this.#text.charAt(this.#at) === (top.isArray ? ']' : '}')) {
      this.#at++;
      this.#stack.pop();
      return false;
    }
    if (!top.isArray) this.#key(top);
    return this.#beginValue();
  }

  #afterMember(top: Frame): boolean {
    this.#skipBlanks();
    const char = this.#text.charAt(this.#at);
    if (char === (top.isArray ? ']' : '}')) {
      this.#at++;
      this.#stack.pop();
      return false;
    }
    if (char !== ',')
      throw this.#invalid(top.isArray ? 'after array element' : 'after object key:value pair');
    this.#at++;
    top.index++;
    if (!top.isArray) this.#key(top);
    return this.#beginValue();
  }

  #key(top: Frame): void {
    this.#skipBlanks();
    if (this.#text.charAt(this.#at) !== '"')
      throw this.#invalid('looking for beginning of object key string');
    const start = this.#at;
    this.#string();
    top.key = JSON.parse(this.#text.slice(start, this.#at)) as string;
    if (top.seen.has(top.key) && this.#duplicates.size < maxReported) this.#duplicates.add(this.#path());
    top.seen.add(top.key);
    this.#skipBlanks();
    if (this.#text.charAt(this.#at) !== ':') throw this.#invalid('after object key');
    this.#at++;
  }

  #path(): string {
    let path = '';
    for (const frame of this.#stack) {
      if (frame.isArray) path += `[${frame.index}]`;
      else path += path === '' ? frame.key : `.${frame.key}`;
    }
    return path;
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) break;
      if (Number.isNaN(code) || code < 0x20) throw this.#invalid('in string literal');
      if (code === 0x5c) this.#escape();
    }
    this.#at++;
  }

  #escape(): void {
    this.#at++;
    const char = this.#text.charAt(this.#at);
    if (char === 'u') {
      for (let count = 0; count < 4; count++) {
        this.#at++;
        if (!/^[0-9a-fA-F]$/.test(this.#text.charAt(this.#at))) {
          throw this.#broken('in \\u hexadecimal character escape');
        }
      }
    } else if (char === '' || !'"\\/bfnrt'.includes(char)) {
      throw this.#broken('in string escape code');
    }
  }

  #number(): void {
    if (this.#text.charAt(this.#at) === '-') this.#at++;
    if (this.#text.charAt(this.#at) === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text.charAt(this.#at) === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    const exponent = this.#text.charAt(this.#at);
    if (exponent !== 'e' && exponent !== 'E') return;
    this.#at++;
    const sign = this.#text.charAt(this.#at);
    if (sign === '+' || sign === '-') this.#at++;
    this.#digits('in exponent of numeric literal');
  }

  #digits(context: string): void {
    if (!isDigit(this.#text.charAt(this.#at))) throw this.#broken(context);
    while (isDigit(this.#text.charAt(this.#at))) this.#at++;
  }

  #literal(first: string): void {
    const word = literals.get(first);
    if (word === undefined) throw this.#invalid('looking for beginning of value');
    for (const expected of word) {
      if (this.#text.charAt(this.#at) !== expected) {
        throw this.#broken(`in literal ${word} (expecting '${expected}')`);
      }
      this.#at++;
    }
  }
}

const literals: ReadonlyMap<string, string> = new Map([
  ['t', 'true'],
  ['f', 'false'],
  ['n', 'null'],
]);

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9' && char.length === 1;
}

/** Go looks at bytes: of other characters it shows the first one of their UTF-8. */
function quoteCharacter(text: string, at: number): string {
  const char = text.charAt(at);
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  const code = text.codePointAt(at) ?? 0;
  if (code < 0x80)
    return `'${JSON.stringify(char)
      .slice(1, -1)
      .replace(/^\\u00/, '\\x')}'`;
  const byte = new TextEncoder().encode(String.fromCodePoint(code))[0] ?? 0;
  return `'${String.fromCharCode(byte)}'`;
}
