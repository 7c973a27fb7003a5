import { resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { defaultDataDir, UsageError } from './up-options.ts';

export interface Arguments {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  /** Absolute. */
  readonly dataDir: string;
}

const shared: ParseArgsOptionsConfig = {
  help: { type: 'boolean', short: 'h' },
  'data-dir': { type: 'string' },
};

/** The arguments of a command. @throws UsageError when they are not as many as wanted, or unknown */
export function readArguments(
  args: readonly string[],
  wanted: { readonly positionals: number; readonly options?: ParseArgsOptionsConfig },
): Arguments | 'help' {
  const { values, positionals } = parsed(args, { ...shared, ...wanted.options });
  if (values['help']) return 'help';
  if (positionals.length !== wanted.positionals)
    throw new UsageError(`expected ${wanted.positionals} argument(s), not ${positionals.length}`);
  const given = values['data-dir'] ?? process.env['SHEAF_DATA_DIR'];
  return {
    positionals,
    flags: values,
    dataDir: resolve(typeof given === 'string' ? given : defaultDataDir()),
  };
}

function parsed(
  args: readonly string[],
  options: ParseArgsOptionsConfig,
): { values: Record<string, string | boolean | undefined>; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: values as Record<string, string | boolean | undefined>, positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
