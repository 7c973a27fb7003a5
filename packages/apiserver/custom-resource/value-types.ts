import type { JsonValue } from '@sheaf/base';
import { isEnforcedFormat } from './formats.ts';
import { jsonTypeOf } from './go-text.ts';
import type { SchemaNode } from './schema-node.ts';

/** The types a value may have; an int-or-string has two. Empty: any. */
export function allowedTypes(node: SchemaNode): readonly string[] {
  if (node.intOrString) return ['integer', 'string'];
  return node.type === '' ? [] : [node.type];
}

/** The node's format, unless it is one that is ignored for its type. */
export function enforcedFormat(node: SchemaNode): string {
  const type = node.intOrString ? '' : node.type;
  return node.format !== '' && isEnforcedFormat(type, node.format) ? node.format : '';
}

/** A value of the wrong type: the type wanted, and the value's own, as the message names them. */
export interface TypeFault {
  readonly wanted: string;
  readonly actual: string;
}

/**
 * Checks a value's type and nothing else. With a string format, lists pass as if they were strings: so it is in the
 * reference implementation, and stored objects may depend on it.
 */
export function findTypeFault(node: SchemaNode, value: JsonValue | undefined): TypeFault | undefined {
  const types = allowedTypes(node);
  const type = jsonTypeOf(value);
  if (type === 'null') {
    return types.length === 0 || node.nullable ? undefined : { wanted: types.join(','), actual: 'null' };
  }
  const format = enforcedFormat(node);
  if (types.length === 0 && format === '') return undefined;
  return checkType({ types, format, type });
}

interface TypeCase {
  readonly types: readonly string[];
  readonly format: string;
  readonly type: string;
}

function checkType({ types, format, type }: TypeCase): TypeFault | undefined {
  const isAllowed = types.includes(type) || (type === 'integer' && types.includes('number'));
  if (format !== '') {
    const byFormat = checkWithFormat({ types, format, type, isAllowed });
    if (byFormat !== 'undecided') return byFormat;
  }
  return isAllowed ? undefined : { wanted: types.join(','), actual: type };
}

interface FormatCase {
  readonly types: readonly string[];
  readonly format: string;
  readonly type: string;
  readonly isAllowed: boolean;
}

function checkWithFormat(value: FormatCase): TypeFault | undefined | 'undecided' {
  const { types, format, type, isAllowed } = value;
  const isText = type === 'string' || type === 'array';
  const own = numberFormats[type] ?? '';
  if (!isText && !isAllowed && own !== format) return { wanted: format, actual: own };
  if (isText && !types.includes('number') && !types.includes('integer')) return undefined;
  return 'undecided';
}

const numberFormats: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };
