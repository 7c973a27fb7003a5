import type { JsonObject, JsonValue } from '@sheaf/base';
import type { PrinterColumn } from './definition.ts';
import { compileJsonPath, type JsonPath, JsonPathError, printJsonPathValue } from './json-path.ts';
import { parseTime } from './rfc3339.ts';

/** The cell of a printer column, without the first (the name). `date` cells are milliseconds since 1970. */
export type Cell = string | number | boolean | null | DateCell;

/** A time that is shown as an age; `undefined` if the text is no time (`<invalid>`). */
export interface DateCell {
  readonly milliseconds: number | undefined;
}

export interface CompiledColumn {
  readonly column: PrinterColumn;
  readonly description: string;
  cell(object: JsonObject): Cell;
}

/** Compiles printer columns. From the first path that cannot be read on there are no columns, as upstream has it. */
export function compileColumns(columns: readonly PrinterColumn[]): readonly CompiledColumn[] {
  const compiled: CompiledColumn[] = [];
  for (const column of columns) {
    const path = tryCompile(column.jsonPath);
    if (path === undefined) break;
    const description =
      column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`;
    compiled.push({ column, description, cell: (object) => cellOf(path.findFirst(object), column.type) });
  }
  return compiled;
}

function tryCompile(text: string): JsonPath | undefined {
  try {
    return compileJsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function cellOf(value: JsonValue | undefined, type: string): Cell {
  if (value === undefined) return null;
  return readers.get(type)?.(value) ?? null;
}

const readers: ReadonlyMap<string, (value: JsonValue) => Cell> = new Map<string, (value: JsonValue) => Cell>([
  ['string', printJsonPathValue],
  ['integer', (value) => (typeof value === 'number' ? Math.trunc(value) : null)],
  ['number', (value) => (typeof value === 'number' ? value : null)],
  ['boolean', (value) => (typeof value === 'boolean' ? value : null)],
  ['date', (value) => (typeof value === 'string' ? { milliseconds: parseTime(value) } : null)],
]);

/** The values field selectors see: by path without the leading dot, '' where there is none. */
export function compileSelectableFields(
  paths: readonly string[],
): (object: JsonObject) => Record<string, string> {
  const fields = paths.map((path) => ({ name: path.replace(/^\./, ''), path: compileJsonPath(path) }));
  return (object) => {
    const values: Record<string, string> = {};
    for (const { name, path } of fields) {
      const value = path.findFirst(object);
      values[name] = value === undefined || value === null ? '' : printJsonPathValue(value);
    }
    return values;
  };
}
