/** A table of a compatibility page that lists all of something. */
export interface CompatibilityList {
  readonly page: string;
  /** Of the comment above it. */
  readonly subject: string;
  readonly rows: readonly CompatibilityRow[];
}

export interface CompatibilityRow {
  readonly name: string;
  readonly promise: string;
  readonly cells: readonly string[];
}

/**
 * The tables below comments of the form `<!-- lists: SUBJECT -->`. Their first column is a name as code, their second a promise. A
 * subject is one of
 *
 *     kinds                    all kinds that are served besides the built-in ones; the third column has their columns
 *     settings                 all settings
 *     fields KIND PATH         the fields at a path of a kind, as its schema has them
 *     requests PREFIX          what is served below a method and path
 *     missing                  methods and paths that are not served
 */
export function compatibilityLists(page: string, markdown: string): readonly CompatibilityList[] {
  const lines = markdown.split('\n');
  return lines.flatMap((line, index) => {
    const subject = /^<!-- lists: (.+) -->$/.exec(line)?.[1];
    if (subject === undefined) return [];
    const after = lines.slice(index + 1);
    const first = after.findIndex((each) => each.startsWith('|'));
    const end = after.findIndex((each, place) => place > first && !each.startsWith('|'));
    const table = after.slice(first, end < 0 ? undefined : end);
    return [{ page, subject, rows: table.slice(2).map(rowOf) }];
  });
}

function rowOf(line: string): CompatibilityRow {
  const cells = line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
  const [name = '', promise = '', ...rest] = cells;
  return { name: name.replaceAll('`', ''), promise, cells: rest };
}
