import { badRequest } from '@sheaf/base';
import { labelValueErrors, qualifiedNameErrors } from './names.ts';
import type { LabelOperator, LabelRequirement } from './selectors.ts';

/** Longer selectors are refused. */
const maxSelectorLength = 256 * 1024;

type TokenKind =
  | 'identifier'
  | 'end'
  | 'error'
  | '('
  | ')'
  | ','
  | '!'
  | '='
  | '=='
  | '!='
  | '<'
  | '>'
  | 'in'
  | 'notin';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const end: Token = { kind: 'end', text: '' };
const symbols: ReadonlySet<string> = new Set(['=', '!', '(', ')', ',', '>', '<']);
const operators: ReadonlySet<string> = new Set(['(', ')', ',', '!', '=', '==', '!=', '<', '>']);
const binaryOperators = 'in, notin, =, ==, !=, gt, lt';

/** Reads `a=b,c in (d,e),!f`, sorted by key. Throws 400 BadRequest, worded as upstream. */
export function parseRequirements(text: string): LabelRequirement[] {
  if (text.length > maxSelectorLength)
    throw badRequest(`selector is longer than ${maxSelectorLength} characters`);
  const requirements = new Parser(scan(text)).requirements();
  return requirements.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
}

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n';
}

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '\0') break;
    if (isBlank(char)) {
      at++;
      continue;
    }
    const token = symbols.has(char) ? scanSymbol(text, at) : scanWord(text, at);
    tokens.push(token.token);
    at = token.next;
  }
  tokens.push(end);
  return tokens;
}

interface Scanned {
  readonly token: Token;
  readonly next: number;
}

function scanWord(text: string, start: number): Scanned {
  let at = start;
  while (
    at < text.length &&
    text.charAt(at) !== '\0' &&
    !symbols.has(text.charAt(at)) &&
    !isBlank(text.charAt(at))
  ) {
    at++;
  }
  const word = text.slice(start, at);
  const kind = word === 'in' || word === 'notin' ? word : 'identifier';
  return { token: { kind, text: word }, next: afterNul(text, at) };
}

/** A NUL ends a token and is swallowed by it; where a token is due it ends the selector. */
function afterNul(text: string, at: number): number {
  return text.charAt(at) === '\0' ? at + 1 : at;
}

/** The longest operator; `!` and `=` begin longer ones. */
function scanSymbol(text: string, start: number): Scanned {
  const two = text.slice(start, start + 2);
  const symbol = operators.has(two) ? two : text.charAt(start);
  return { token: { kind: symbol as TokenKind, text: symbol }, next: afterNul(text, start + symbol.length) };
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** `in` and `notin` are words, except where an operator is due. */
  #peek(): Token {
    const token = this.#tokens[this.#at] ?? end;
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;
  }

  #next(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #nextOperator(): Token {
    return this.#tokens[this.#at++] ?? end;
  }

  requirements(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end') return found;
      if (!beginsRequirement(token)) {
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.#requirement());
      const separator = this.#next();
      if (separator.kind === 'end') return found;
      if (separator.kind !== ',') {
        throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      const following = this.#peek();
      if (!beginsRequirement(following)) {
        throw badRequest(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    const isNegated = this.#peek().kind === '!';
    if (isNegated) this.#at++;
    const key = this.#next();
    if (key.kind !== 'identifier') throw unparsable(`found '${key.text}', expected: identifier`);
    const errors = qualifiedNameErrors(key.text);
    if (errors.length > 0) throw unparsable(invalidValue('<nil>', key.text, errors));
    const following = this.#peek().kind;
    if (isNegated) return checked({ key: key.text, operator: '!', values: [] });
    if (following === 'end' || following === ',')
      return checked({ key: key.text, operator: 'exists', values: [] });
    return this.#binary(key.text);
  }

  #binary(key: string): LabelRequirement {
    const token = this.#nextOperator();
    const operator = operatorOf(token);
    if (operator === undefined) throw unparsable(`found '${token.text}', expected: ${binaryOperators}`);
    const isSet = operator === 'in' || operator === 'notin';
    const values = isSet ? this.#values() : [this.#exactValue()];
    return checked({ key, operator, values: [...new Set(values)].sort() });
  }

  #exactValue(): string {
    const kind = this.#peek().kind;
    if (kind === 'end' || kind === ',') return '';
    const token = this.#next();
    if (token.kind !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #values(): string[] {
    const open = this.#next();
    if (open.kind !== '(') throw unparsable(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ')') {
      this.#at++;
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',') {
      throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.#identifiers();
    if (this.#next().kind !== ')') throw unparsable(`found '${first.text}', expected: ')'`);
    return values;
  }

  /** Values between commas; what stands between two of them, or none, is the empty value. */
  #identifiers(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.#next();
      const following = this.#peek();
      if (token.kind === 'identifier') {
        values.push(token.text);
        if (following.kind === ')') return values;
        if (following.kind !== ',') throw unparsable(`found '${following.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0 || following.kind === ',' || following.kind === ')') values.push('');
        if (following.kind === ')') return values;
      } else {
        throw unparsable(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }
}

function beginsRequirement(token: Token): boolean {
  return token.kind === 'identifier' || token.kind === '!';
}

function operatorOf(token: Token): LabelOperator | undefined {
  switch (token.kind) {
    case 'in':
    case 'notin':
    case '=':
    case '==':
    case '!=':
      return token.kind;
    case '>':
      return 'gt';
    case '<':
      return 'lt';
    default:
      return undefined;
  }
}

function unparsable(message: string): Error {
  return badRequest(`unable to parse requirement: ${message}`);
}

function invalidValue(path: string, value: string, errors: readonly string[]): string {
  return `${path}: Invalid value: ${JSON.stringify(value)}: ${errors.join('; ')}`;
}

/** What is wrong with a requirement, as one text; empty where it is right. */
export function requirementFault(requirement: LabelRequirement): string {
  const { key, values } = requirement;
  const keyErrors = qualifiedNameErrors(key);
  const faults = keyErrors.length > 0 ? [invalidValue('key', key, keyErrors)] : [];
  faults.push(...operatorFaults(requirement));
  values.forEach((value, index) => {
    const errors = labelValueErrors(value);
    if (errors.length > 0) faults.push(invalidValue(`values[${index}][${key}]`, value, errors));
  });
  return faults.length > 1 ? `[${faults.join(', ')}]` : (faults[0] ?? '');
}

function operatorFaults({ operator, values }: LabelRequirement): string[] {
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length > 0) return [];
      return ["values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"];
    case 'exists':
    case '!':
      return values.length === 0 ? [] : [unexpectedValues(values)];
    case 'gt':
    case 'lt':
      return integerFaults(values);
    default:
      return [];
  }
}

function unexpectedValues(values: readonly string[]): string {
  const shown = JSON.stringify(values);
  return `values: Invalid value: ${shown}: values set must be empty for exists and does not exist`;
}

function integerFaults(values: readonly string[]): string[] {
  const message = "for 'Gt', 'Lt' operators, the value must be an integer";
  return values.flatMap((value, index) =>
    /^[+-]?\d{1,18}$/.test(value) ? [] : [invalidValue(`values[${index}]`, value, [message])],
  );
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const fault = requirementFault(requirement);
  if (fault !== '') throw unparsable(fault);
  return requirement;
}
