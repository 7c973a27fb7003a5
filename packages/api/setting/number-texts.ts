import { SettingProblem } from './setting-problem.ts';

interface Bounds {
  readonly min: number;
  readonly max?: number;
}

/** Digits only: `10`, not `10.0`, `1e1` or ` 10`. @throws SettingProblem */
export function parseInteger(text: string, { min, max = Number.MAX_SAFE_INTEGER }: Bounds): number {
  const isUnbounded = max === Number.MAX_SAFE_INTEGER;
  const wayOut = isUnbounded
    ? `Write a whole number, ${min} or more.`
    : `Write a whole number from ${min} to ${max}.`;
  if (!/^[+-]?\d{1,18}$/.test(text)) throw new SettingProblem(`${quoted(text)} is no whole number`, wayOut);
  const value = Number(text);
  if (value < min || value > max) throw new SettingProblem(`${text} is out of range`, wayOut);
  return value;
}

/** @throws SettingProblem */
export function parseNumber(text: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return Number(text);
  throw new SettingProblem(`${quoted(text)} is no number`, 'Write a number such as 1.5.');
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
