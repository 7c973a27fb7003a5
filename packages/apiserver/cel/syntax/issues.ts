/** Something wrong with an expression, found by the parser or the checker. */
export interface Issue {
  /** UTF-16 offset into the source. */
  readonly offset: number;
  readonly message: string;
}

/** Ends parsing. */
export class SyntaxFailure extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/**
 * Issues as cel-go prints them:
 *
 *     ERROR: <input>:1:5: undefined field 'x'
 *      | self.x
 *      | ....^
 */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const ordered = [...issues].sort((a, b) => a.offset - b.offset);
  return ordered.map((issue) => formatIssue(source, issue)).join('\n');
}

function formatIssue(source: string, issue: Issue): string {
  const before = source.slice(0, issue.offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  const lineEnd = source.indexOf('\n', issue.offset);
  const line = source.slice(lineStart, lineEnd < 0 ? source.length : lineEnd);
  const lineNumber = before.split('\n').length;
  const column = Array.from(before.slice(lineStart));
  const dots = column.map((char) => (wide.test(char) ? '．' : '.')).join('');
  const pointer = wide.test(line.charAt(issue.offset - lineStart)) ? '＾' : '^';
  const head = `ERROR: <input>:${lineNumber}:${column.length + 1}: ${issue.message}`;
  return `${head}\n | ${line.replaceAll('\t', ' ')}\n | ${dots}${pointer}`;
}
