import type { Call, Expression, ListElement, MapEntry, Select, StructField } from './ast.ts';
import { type Issue, SyntaxFailure } from './issues.ts';
import { type Token, tokenize } from './lexer.ts';
import { literalValue } from './literals.ts';
import { expandFunctionMacro, expandMethodMacro } from './macros.ts';

/** How deep expressions may be nested, as cel-go limits it. */
const maxDepth = 250;
/** How many operators of one precedence may follow each other; the tree leans to the left. */
const maxChain = 1000;
const maxSourceLength = 100_000;

const reserved = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
);

const expectedStart =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const closingTexts: Readonly<Record<string, string>> = { ']': "{']', ','}", '}': "{'}', ','}" };

const relations = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const products = new Set(['*', '/', '%']);
const sums = new Set(['+', '-']);

export type ParseResult =
  | { readonly root: Expression; readonly nodeCount: number }
  | { readonly issues: readonly Issue[] };

/** Parses CEL, with the macros of Kubernetes' environment expanded. Never throws. */
export function parse(source: string): ParseResult {
  if (source.length > maxSourceLength)
    return {
      issues: [
        {
          offset: 0,
          message: `expression code point size exceeds limit: size: ${source.length}, limit ${maxSourceLength}`,
        },
      ],
    };
  const { tokens, issues } = tokenize(source);
  try {
    const parser = new Parser(tokens);
    const root = parser.parseAll();
    return issues.length > 0 ? { issues } : { root, nodeCount: parser.nodeCount };
  } catch (error) {
    if (error instanceof SyntaxFailure)
      return { issues: [...issues, { offset: error.offset, message: error.message }] };
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;
  nodeCount = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parseAll(): Expression {
    const root = this.#expression();
    if (this.#token.kind !== 'end') throw this.#unexpected('<EOF>', this.#peek(1).kind === 'end');
    return root;
  }

  readonly nextId = (): number => this.nodeCount++;

  get #token(): Token {
    return this.#peek(0);
  }

  #peek(ahead: number): Token {
    const index = Math.min(this.#position + ahead, this.#tokens.length - 1);
    return this.#tokens[index] ?? { kind: 'end', text: '<EOF>', offset: 0 };
  }

  #advance(): Token {
    const token = this.#token;
    this.#position += 1;
    return token;
  }

  #is(text: string): boolean {
    const { kind } = this.#token;
    return (kind === 'symbol' || kind === 'identifier') && this.#token.text === text;
  }

  #take(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#position += 1;
    return true;
  }

  #expect(text: string): Token {
    if (this.#is(text)) return this.#advance();
    if (text === ')' && this.#token.kind === 'end')
      throw new SyntaxFailure(this.#token.offset, "Syntax error: missing ')' at '<EOF>'");
    throw this.#unexpected(closingTexts[text] ?? `'${text}'`);
  }

  /** `isExtra`: upstream would go on if the token were not there. */
  #unexpected(expected: string, isExtra = false): SyntaxFailure {
    const { offset, text, kind } = this.#token;
    if (kind === 'quoted') return new SyntaxFailure(offset, "unsupported syntax: '`'");
    const problem = isExtra ? 'extraneous' : 'mismatched';
    return new SyntaxFailure(offset, `Syntax error: ${problem} input '${text}' expecting ${expected}`);
  }

  /** What is not the beginning of an expression. */
  #unexpectedStart(): SyntaxFailure {
    const next = this.#peek(1);
    const begins = next.kind === 'symbol' ? '[{(.-!'.includes(next.text) : next.kind !== 'end';
    return this.#unexpected(expectedStart, begins);
  }

  #expression(): Expression {
    if (this.#depth >= maxDepth)
      throw new SyntaxFailure(this.#token.offset, `expression recursion limit exceeded: ${maxDepth}`);
    this.#depth += 1;
    const condition = this.#logic('||');
    const result = this.#is('?') ? this.#ternary(condition) : condition;
    this.#depth -= 1;
    return result;
  }

  #ternary(condition: Expression): Expression {
    const { offset } = this.#advance();
    const whenTrue = this.#logic('||');
    this.#expect(':');
    const whenFalse = this.#expression();
    return this.#call(offset, '_?_:_', [condition, whenTrue, whenFalse]);
  }

  #logic(operator: '&&' | '||'): Expression {
    const first = operator === '||' ? this.#logic('&&') : this.#relation();
    if (!this.#is(operator)) return first;
    const { offset } = this.#token;
    const terms = [first];
    while (this.#take(operator)) terms.push(operator === '||' ? this.#logic('&&') : this.#relation());
    return { kind: 'logic', id: this.nextId(), offset, operator, terms };
  }

  #relation(): Expression {
    return this.#chain(relations, () => this.#sum());
  }

  #sum(): Expression {
    return this.#chain(sums, () => this.#product());
  }

  #product(): Expression {
    return this.#chain(products, () => this.#unary());
  }

  #chain(operators: ReadonlySet<string>, operand: () => Expression): Expression {
    let left = operand();
    for (let length = 1; this.#isOperator(operators); length++) {
      const { text, offset } = this.#advance();
      if (length > maxChain)
        throw new SyntaxFailure(offset, `expression recursion limit exceeded: ${maxChain}`);
      left = this.#call(offset, text === 'in' ? '@in' : `_${text}_`, [left, operand()]);
    }
    return left;
  }

  #isOperator(operators: ReadonlySet<string>): boolean {
    const { kind, text } = this.#token;
    return (kind === 'symbol' || kind === 'identifier') && operators.has(text);
  }

  #unary(): Expression {
    const { text, offset, kind } = this.#token;
    if (kind !== 'symbol' || (text !== '!' && text !== '-')) return this.#member();
    let count = 0;
    while (this.#is(text) && !(text === '-' && this.#isNegativeNumber())) {
      this.#advance();
      count += 1;
    }
    const operand = this.#is('-') ? this.#negativeMember() : this.#member();
    return count % 2 === 0 ? operand : this.#call(offset, text === '!' ? '!_' : '-_', [operand]);
  }

  #isNegativeNumber(): boolean {
    const { kind } = this.#peek(1);
    return kind === 'int' || kind === 'double';
  }

  #negativeMember(): Expression {
    if (!this.#isNegativeNumber()) throw this.#unexpectedStart();
    const { offset } = this.#advance();
    const value = literalValue(this.#advance(), true);
    return this.#postfix({ kind: 'literal', id: this.nextId(), offset, value });
  }

  #member(): Expression {
    return this.#postfix(this.#primary());
  }

  #postfix(primary: Expression): Expression {
    let operand = primary;
    for (let length = 0; this.#is('.') || this.#is('['); length++) {
      if (length > maxChain)
        throw new SyntaxFailure(this.#token.offset, `expression recursion limit exceeded: ${maxChain}`);
      operand = this.#is('.') ? this.#selection(operand) : this.#index(operand);
    }
    return operand;
  }

  #index(operand: Expression): Expression {
    const { offset } = this.#advance();
    const name = this.#take('?') ? '_[?_]' : '_[_]';
    const index = this.#expression();
    this.#expect(']');
    return this.#call(offset, name, [operand, index]);
  }

  #selection(operand: Expression): Expression {
    const dot = this.#advance();
    const mode = this.#take('?') ? 'optional' : 'value';
    const field = this.#fieldName();
    if (mode === 'value' && this.#is('(')) return this.#methodCall(operand, field);
    return { kind: 'select', id: this.nextId(), offset: dot.offset, operand, field, mode } satisfies Select;
  }

  #fieldName(): string {
    const token = this.#token;
    if (token.kind !== 'identifier' || isKeyword(token.text)) throw this.#unexpected('IDENTIFIER');
    return this.#advance().text;
  }

  #methodCall(target: Expression, name: string): Expression {
    const { offset } = this.#advance();
    const args = this.#expressions(')');
    const call: Call = { kind: 'call', id: this.nextId(), offset, name, target, args };
    return expandMethodMacro(call, target) ?? call;
  }

  #expressions(closing: string): Expression[] {
    const list: Expression[] = [];
    if (this.#take(closing)) return list;
    do list.push(this.#expression());
    while (this.#take(','));
    this.#expect(closing);
    return list;
  }

  #primary(): Expression {
    const token = this.#token;
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
      case 'string':
      case 'bytes':
        this.#advance();
        return { kind: 'literal', id: this.nextId(), offset: token.offset, value: literalValue(token) };
      case 'identifier':
        return this.#identifier();
      case 'symbol':
        return this.#bracketed(token);
      default:
        throw this.#unexpectedStart();
    }
  }

  #bracketed(token: Token): Expression {
    switch (token.text) {
      case '(':
        return this.#nested();
      case '[':
        return this.#list();
      case '{':
        return this.#map();
      case '.':
        this.#advance();
        if (this.#token.kind === 'identifier') return this.#identifier();
        throw this.#unexpected('IDENTIFIER');
      default:
        throw this.#unexpectedStart();
    }
  }

  #nested(): Expression {
    this.#advance();
    const inner = this.#expression();
    this.#expect(')');
    return inner;
  }

  #identifier(): Expression {
    const { text, offset } = this.#advance();
    if (isKeyword(text)) return this.#keyword(text, offset);
    if (reserved.has(text)) throw new SyntaxFailure(offset, `reserved identifier: ${text}`);
    if (this.#is('(')) return this.#functionCall(text);
    const structEnd = this.#structNameEnd();
    if (structEnd !== undefined) return this.#struct(text, structEnd);
    return { kind: 'identifier', id: this.nextId(), offset, name: text };
  }

  #keyword(text: string, offset: number): Expression {
    const constants: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };
    const value = constants[text];
    if (value === undefined) {
      this.#position -= 1;
      throw this.#unexpectedStart();
    }
    return { kind: 'literal', id: this.nextId(), offset, value };
  }

  #functionCall(name: string): Expression {
    const { offset } = this.#advance();
    const args = this.#expressions(')');
    const call: Call = { kind: 'call', id: this.nextId(), offset, name, target: undefined, args };
    return expandFunctionMacro(call) ?? call;
  }

  /** How many tokens `.name.name` follow before a `{`; `undefined` if none follows. */
  #structNameEnd(): number | undefined {
    let ahead = 0;
    while (this.#peek(ahead).text === '.' && this.#peek(ahead + 1).kind === 'identifier') ahead += 2;
    const token = this.#peek(ahead);
    return token.kind === 'symbol' && token.text === '{' ? ahead : undefined;
  }

  #struct(first: string, nameTokens: number): Expression {
    let type = first;
    for (let index = 0; index < nameTokens; index++) type += this.#advance().text;
    const { offset } = this.#advance();
    const fields: StructField[] = [];
    while (!this.#is('}')) {
      const isOptional = this.#take('?');
      const at = this.#token.offset;
      const name = this.#fieldName();
      this.#expect(':');
      fields.push({ name, offset: at, value: this.#expression(), isOptional });
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    return { kind: 'struct', id: this.nextId(), offset, type, fields };
  }

  #list(): Expression {
    const { offset } = this.#advance();
    const elements: ListElement[] = [];
    while (!this.#is(']')) {
      const isOptional = this.#take('?');
      elements.push({ value: this.#expression(), isOptional });
      if (!this.#take(',')) break;
    }
    this.#expect(']');
    return { kind: 'list', id: this.nextId(), offset, elements };
  }

  #map(): Expression {
    const { offset } = this.#advance();
    const entries: MapEntry[] = [];
    while (!this.#is('}')) {
      const isOptional = this.#take('?');
      const key = this.#expression();
      this.#expect(':');
      entries.push({ key, value: this.#expression(), isOptional });
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    return { kind: 'map', id: this.nextId(), offset, entries };
  }

  #call(offset: number, name: string, args: readonly Expression[]): Expression {
    return { kind: 'call', id: this.nextId(), offset, name, target: undefined, args };
  }
}

function isKeyword(text: string): boolean {
  return text === 'true' || text === 'false' || text === 'null' || text === 'in';
}
