import { remove, snapshot } from './change-commands.ts';
import { create } from './create.ts';
import { type HostCommand, type MachineCommand, runMachineCommand } from './machine-command.ts';
import { restart, start, stop } from './power-commands.ts';
import { list, why } from './show-commands.ts';
import { console, log, portForward, screenshot, ssh } from './stream-commands.ts';

const commands: Readonly<Record<string, MachineCommand>> = {
  create,
  ls: list,
  start,
  stop,
  restart,
  ssh,
  console,
  screenshot,
  log,
  snapshot,
  why,
  delete: remove,
  'port-forward': portForward,
};

/** `sheaf vm WORD …` */
export function vm(args: readonly string[]): Promise<number> {
  return runWord('vm', commands, args);
}

/** The command of the first argument; without one, or with an unknown one, the list of all. */
export async function runWord(
  program: string,
  all: Readonly<Record<string, MachineCommand | HostCommand>>,
  args: readonly string[],
): Promise<number> {
  const [word = '--help', ...rest] = args;
  const command = Object.hasOwn(all, word) ? all[word] : undefined;
  if (command) return await runMachineCommand(`${program} ${word}`, command, rest);
  const isHelp = word === '--help' || word === '-h' || word === 'help';
  const output = isHelp ? process.stdout : process.stderr;
  if (!isHelp) output.write(`sheaf ${program}: there is no command ${JSON.stringify(word)}\n\n`);
  output.write(usage(program, all));
  return isHelp ? 0 : 2;
}

function usage(program: string, all: Readonly<Record<string, MachineCommand | HostCommand>>): string {
  const lines = Object.entries(all).map(
    ([word, { summary }]) => `  sheaf ${program} ${word.padEnd(12)} ${summary}`,
  );
  return `Usage:\n${lines.join('\n')}\n\nEach command explains itself with --help.\n`;
}
