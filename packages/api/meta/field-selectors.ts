import { badRequest } from '@sheaf/base';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** All requirements must hold. */
export type FieldSelector = readonly FieldRequirement[];

/** Longer selectors are refused. */
const maxSelectorLength = 64 * 1024;

/**
 * Reads `metadata.name=x,status.phase!=Running`; in values a backslash escapes comma, equals sign and backslash.
 * Which fields exist is the kind's business. Throws 400 BadRequest, worded as upstream.
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text.length > maxSelectorLength)
    throw badRequest(`selector is longer than ${maxSelectorLength} characters`);
  const terms = splitTerms(text).filter((term) => term !== '');
  const requirements = terms.sort().map((term) => parseTerm(term, text));
  return requirements.filter(({ field, value }) => field !== '' || value !== '');
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const match = /!=|==?/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  const operator = match[0] === '!=' ? '!=' : '=';
  const value = unescapeValue(term.slice(match.index + match[0].length));
  return { field: term.slice(0, match.index), operator, value };
}

function unescapeValue(text: string): string {
  let value = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') {
      at++;
      value += unescaped(text, at);
    } else if (char === ',' || char === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    } else {
      value += char;
    }
  }
  return value;
}

function unescaped(text: string, at: number): string {
  const char = String.fromCodePoint(...[text.codePointAt(at)].filter((code) => code !== undefined));
  if (char === '\\' || char === ',' || char === '=') return char;
  throw badRequest(`invalid field selector: invalid escape sequence: \\${char}`);
}

export function formatFieldSelector(selector: FieldSelector): string {
  return selector
    .map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`)
    .join(',');
}

/** Escapes a literal for use as a field selector's value. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** `read` gives a field's value as text; fields that do not exist are empty. */
export function matchesFields(selector: FieldSelector, read: (field: string) => string): boolean {
  for (const { field, operator, value } of selector) {
    if ((read(field) === value) !== (operator === '=')) return false;
  }
  return true;
}

/** The one value a field must have by this selector; undefined where it is free. */
export function requiredField(selector: FieldSelector, field: string): string | undefined {
  return selector.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
}
