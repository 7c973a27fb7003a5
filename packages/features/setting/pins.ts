import { SettingProblem } from '@sheaf/api/setting/index';
import { type SettingDefinition, settingTable } from './setting-table.ts';

/** What the environment of the server says about one setting. */
export interface SettingPin {
  /** Then nobody else chooses it. */
  readonly value?: string;
  /** In place of the built-in default. */
  readonly default?: string;
  /** Why the default that it gives is not taken. */
  readonly defaultProblem?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** `HARVESTER_UI_SOURCE` for `ui-source`. */
export function variableOf(name: string): string {
  return `HARVESTER_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** By the name of the setting. Empty variables count as absent; a default that cannot be is left out. */
export function pinsOf(environment: Environment): ReadonlyMap<string, SettingPin> {
  return new Map(
    settingTable.flatMap((definition) => {
      const value = environment[variableOf(definition.name)];
      const pin = { ...(value ? { value } : {}), ...defaultOf(definition, environment) };
      return Object.keys(pin).length > 0 ? [[definition.name, pin] as const] : [];
    }),
  );
}

function defaultOf({ name, rule }: SettingDefinition, environment: Environment): SettingPin {
  const variable = `${variableOf(name)}_DEFAULT_VALUE`;
  const text = environment[variable];
  if (!text) return {};
  try {
    rule?.(text);
    return { default: text };
  } catch (error) {
    if (!(error instanceof SettingProblem)) throw error;
    const why = `the default that the variable ${variable} gives is not taken: ${error.message}. ${error.wayOut}`;
    return { defaultProblem: why };
  }
}
