/** Reads `1,3-5`; what is not such a list is left out. */
export function parseIndexes(text = ''): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const first = Number(match[1]);
    for (let index = first; index <= Number(match[2] ?? first); index++) indexes.add(index);
  }
  return indexes;
}

/** Writes `1,3-5`: three and more in a row are a range. Two are told apart. */
export function formatIndexes(indexes: Iterable<number>): string {
  const ranges: { first: number; last: number }[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range?.last === index - 1) range.last = index;
    else ranges.push({ first: index, last: index });
  }
  return ranges.map(({ first, last }) => rangeText(first, last)).join(',');
}

function rangeText(first: number, last: number): string {
  if (first === last) return String(first);
  return `${first}${last === first + 1 ? ',' : '-'}${last}`;
}
