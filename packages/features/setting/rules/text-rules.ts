import { dns1123LabelErrors } from '@sheaf/api';
import { parseInteger, SettingProblem } from '@sheaf/api/setting/index';
import type { TextRule } from './rule.ts';

export function wholeNumber(min: number, max?: number): TextRule {
  return (text) => parseInteger(text, max === undefined ? { min } : { min, max });
}

export function oneOf(...known: readonly string[]): TextRule {
  return (text) => {
    if (!known.includes(text))
      throw new SettingProblem(`${JSON.stringify(text)} is not known`, `Use ${known.join(', ')}.`);
  };
}

/** The memory of the second data engine comes in pages of two megabytes. */
export function evenMebibytes(text: string): void {
  if (parseInteger(text, { min: 1 }) % 2 === 1)
    throw new SettingProblem(`${text} is odd`, 'Write an even number of mebibytes, such as 2048.');
}

export function dnsLabel(text: string): void {
  const [wrong] = dns1123LabelErrors(text);
  if (wrong !== undefined)
    throw new SettingProblem(wrong, 'Use lower-case letters, digits and dashes, 63 characters at most.');
}
