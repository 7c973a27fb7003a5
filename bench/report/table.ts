import { median } from '../measure/statistics.ts';
import type { Measure } from './measure.ts';

export type ServerName = 'peer' | 'subject';

/** All figures of one measure: those of each server in the order of the rounds. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly better: Measure['better'];
  readonly detail: boolean;
  readonly values: Readonly<Record<ServerName, number[]>>;
}

export class Results {
  readonly #rows = new Map<string, Row>();

  add(server: ServerName, measure: Measure): void {
    const key = `${measure.name}\n${measure.unit}`;
    const row = this.#rows.get(key) ?? {
      name: measure.name,
      unit: measure.unit,
      better: measure.better,
      detail: measure.detail === true,
      values: { peer: [], subject: [] },
    };
    this.#rows.set(key, row);
    row.values[server].push(measure.value);
  }

  rows(): readonly Row[] {
    return [...this.#rows.values()];
  }
}

/** A Markdown table of medians. The ratio says how many times better the subject is than the peer. */
export function table(rows: readonly Row[]): string {
  const lines = rows
    .filter((row) => !row.detail)
    .map((row) => [row.name, row.unit, figure(row, 'peer'), figure(row, 'subject'), ratio(row)]);
  const all = [['measure', 'unit', 'peer', 'subject', 'times better'], ...lines];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const [head = [], ...body] = all;
  return [format(head), rule, ...body.map(format)].join('\n');
}

function figure(row: Row, server: ServerName): string {
  const value = median(row.values[server]);
  if (Number.isNaN(value)) return '–';
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function ratio(row: Row): string {
  const peer = median(row.values.peer);
  const subject = median(row.values.subject);
  const value = row.better === 'lower' ? peer / subject : subject / peer;
  return Number.isFinite(value) ? `${value.toFixed(2)}×` : '–';
}
