/** The lines of what comes, without carriage returns; those that match, if there is a pattern. */
export async function* matchingLines(
  chunks: AsyncIterable<Uint8Array>,
  pattern: RegExp | undefined,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map(withoutReturn).filter((line) => isWanted(line, pattern));
  }
  const last = withoutReturn(rest);
  if (last !== '' && isWanted(last, pattern)) yield last;
}

function isWanted(line: string, pattern: RegExp | undefined): boolean {
  return pattern === undefined || pattern.test(line);
}

function withoutReturn(line: string): string {
  return line.replace(/\r+$/, '');
}

export async function* lastLines(lines: AsyncIterable<string>, count: number): AsyncGenerator<string> {
  const last: string[] = [];
  for await (const line of lines) {
    last.push(line);
    if (last.length > count) last.shift();
  }
  yield* last;
}
