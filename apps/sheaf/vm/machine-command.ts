import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParseArgsOptionsConfig } from 'node:util';
import { Client, httpTransport, KubeconfigError, readKubeconfig } from '@sheaf/client';
import type { Arguments } from '../arguments.ts';
import { runShape } from '../run-command.ts';

/** One word after `sheaf vm`. */
export interface MachineCommand {
  readonly summary: string;
  /** The words after the command, e.g. `NAME FILE`. */
  readonly words: string;
  readonly options?: ParseArgsOptionsConfig;
  /** Lines of the usage about its own options. */
  readonly help?: string;
  run(call: MachineCall): Promise<number>;
}

/** One that needs no server, or not always. */
export interface HostCommand extends Omit<MachineCommand, 'run'> {
  runHere(given: Arguments): Promise<number>;
}

export interface MachineCall {
  readonly client: Client;
  readonly namespace: string;
  /** In the order of `words`. */
  readonly given: readonly string[];
  readonly flags: Flags;
  /** What stands after `--`. */
  readonly further: readonly string[];
  /** Options that lead another `sheaf` to the same server. */
  readonly connection: readonly string[];
}

/** Options by name; one that may be repeated is a list. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const shared: ParseArgsOptionsConfig = {
  namespace: { type: 'string', short: 'n' },
  kubeconfig: { type: 'string' },
};
const sharedHelp = `  -n, --namespace NS   default: default
  --data-dir DIR       the data directory of the server
  --kubeconfig FILE    the way to a server elsewhere; also from KUBECONFIG
`;

export function runMachineCommand(
  name: string,
  command: MachineCommand | HostCommand,
  args: readonly string[],
): Promise<number> {
  const cut = args.indexOf('--');
  const own = cut < 0 ? args : args.slice(0, cut);
  const further = cut < 0 ? [] : args.slice(cut + 1);
  const { words, options = {}, help = '' } = command;
  return runShape(
    {
      name,
      usage: `Usage: sheaf ${name} ${words}\n\n${command.summary}.\n\n${help}${sharedHelp}`,
      positionals: leadingWords(words),
      options: { ...shared, ...options },
      run: (given) =>
        'runHere' in command
          ? command.runHere(given)
          : withServer(given, (call) => command.run({ ...call, further })),
    },
    own,
  );
}

/** Words in capitals before the first option. */
function leadingWords(words: string): number {
  const list = words.split(' ');
  const end = list.findIndex((word) => !/^[A-Z]+$/.test(word));
  return end < 0 ? list.length : end;
}

/** Calls `run` with a client of the server that the options name. @throws KubeconfigError */
export async function withServer<T>(
  { positionals, flags, dataDir }: Arguments,
  run: (call: Omit<MachineCall, 'further'>) => Promise<T>,
): Promise<T> {
  const path = kubeconfigOf(flags, dataDir);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new KubeconfigError(`${path} cannot be read`, { cause });
  });
  const transport = httpTransport(readKubeconfig(text));
  try {
    return await run({
      client: new Client({ transport, userAgent: 'sheaf' }),
      namespace: textOf(flags, 'namespace') ?? 'default',
      given: positionals,
      flags,
      connection: ['--kubeconfig', path],
    });
  } finally {
    transport.close();
  }
}

/** Whoever names a data directory means the server of that. */
function kubeconfigOf(flags: Flags, dataDir: string): string {
  const own = join(dataDir, 'kubeconfig');
  const named = textOf(flags, 'kubeconfig');
  if (named !== undefined) return named;
  if (flags['data-dir'] !== undefined || process.env['SHEAF_DATA_DIR'] !== undefined) return own;
  const [first] = (process.env['KUBECONFIG'] ?? '').split(':');
  return first === undefined || first === '' ? own : first;
}

export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

export function textsOf(flags: Flags, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
