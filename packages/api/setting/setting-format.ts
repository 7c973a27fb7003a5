import type { Setting } from '../virtualization/index.ts';
import { SettingProblem } from './setting-problem.ts';

/** A setting that parts of Sheaf go by: its name, its default, and what its text means. */
export interface SettingFormat<T> {
  readonly name: string;
  readonly default: string;
  /** @throws SettingProblem for a text that means nothing */
  parse(text: string): T;
}

/** What holds: the value, else the default. */
export function effectiveText(setting: Setting): string {
  return setting.value || (setting.default ?? '');
}

/**
 * What a setting says, for those who go by it. Never fails: where the object is missing, or says something that means
 * nothing, the built-in default holds; who writes such a thing is refused.
 *
 * @public
 */
export function readSetting<T>(format: SettingFormat<T>, setting: Setting | undefined): T {
  for (const text of [setting?.value, setting?.default]) {
    const parsed = text ? tryParse(format, text) : undefined;
    if (parsed) return parsed.value;
  }
  return format.parse(format.default);
}

function tryParse<T>(format: SettingFormat<T>, text: string): { readonly value: T } | undefined {
  try {
    return { value: format.parse(text) };
  } catch (error) {
    if (error instanceof SettingProblem) return undefined;
    throw error;
  }
}
