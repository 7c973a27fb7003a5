/** Columns with two spaces between them. */
export function tableText(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** `3d`, `5h`, `12s`; `-` where the time is not known. */
export function ageOf(timestamp: string | null | undefined, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(timestamp ?? '')) / 1000);
  if (Number.isNaN(seconds)) return '-';
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? units[3];
  return `${Math.max(0, Math.floor(seconds / size))}${unit}`;
}
