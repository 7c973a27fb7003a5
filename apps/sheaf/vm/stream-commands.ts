import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { UsageError } from '../up-options.ts';
import { lastLines, matchingLines } from './log-lines.ts';
import { type Flags, type MachineCall, type MachineCommand, textOf } from './machine-command.ts';
import { instancePath } from './running-machine.ts';
import { attachTerminal } from './terminal.ts';

export const console: MachineCommand = {
  summary: 'Joins the terminal with the serial console; ctrl-] leaves it',
  words: 'NAME [options]',
  async run(call) {
    const stream = await call.client.connect(`${await instancePath(call)}/console`);
    if (process.stdin.isTTY)
      process.stderr.write(
        `Connected to ${call.given[0] ?? ''}. Press enter for a prompt, ctrl-] to leave.\n`,
      );
    await attachTerminal(stream, process.stdin, process.stdout);
    return 0;
  },
};

export const screenshot: MachineCommand = {
  summary: 'Writes a picture (PNG) of the screen into a file; - is the standard output',
  words: 'NAME FILE [options]',
  async run(call) {
    const [, path = '-'] = call.given;
    const chunks = await Array.fromAsync(
      await call.client.download(`${await instancePath(call)}/vnc/screenshot`),
    );
    if (path === '-') process.stdout.write(Buffer.concat(chunks));
    else await writeFile(path, Buffer.concat(chunks));
    return 0;
  },
};

export const log: MachineCommand = {
  summary: 'Shows what the serial console has printed since the machine was started',
  words: 'NAME [options]',
  options: {
    grep: { type: 'string' },
    tail: { type: 'string' },
    follow: { type: 'boolean', short: 'f' },
  },
  help: `  --grep PATTERN       only lines that match; a regular expression
  --tail N             only the last lines
  -f, --follow         go on with what is printed from now on
`,
  run: showLog,
};

const mostBytes = 16 * 1024 * 1024;

async function showLog(call: MachineCall): Promise<number> {
  const { client, flags } = call;
  const tail = readTail(flags);
  const pattern = readPattern(textOf(flags, 'grep'));
  const isFollowed = flags['follow'] === true;
  const target = `${await instancePath(call)}/console/log?tailBytes=${mostBytes}${isFollowed ? '&follow=true' : ''}`;
  const bytes = await client.download(target);
  const lines = matchingLines(bytes, pattern);
  const shown = isFollowed || tail === undefined ? lines : lastLines(lines, tail);
  for await (const line of shown) process.stdout.write(`${line}\n`);
  return 0;
}

function readTail(flags: Flags): number | undefined {
  const given = textOf(flags, 'tail');
  if (given === undefined) return undefined;
  if (flags['follow'] === true) throw new UsageError('--tail and --follow do not go together');
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new UsageError(`--tail ${given} is no number of lines`);
}

function readPattern(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(`--grep: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const portForward: MachineCommand = {
  summary: 'Joins standard input and output with a TCP port of the guest, for other programs',
  words: 'NAME PORT [options]',
  async run(call) {
    const [, port = ''] = call.given;
    const stream = await call.client.connect(
      `${await instancePath(call)}/portforward/${encodeURIComponent(port)}/tcp`,
    );
    const send = async (): Promise<void> => {
      for await (const bytes of process.stdin) await stream.write(bytes as Uint8Array);
    };
    // What is still to come from the guest comes after the input has ended.
    void send().catch(() => stream.dispose());
    for await (const bytes of stream.readable)
      if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
    process.stdin.destroy();
    return 0;
  },
};

export const ssh: MachineCommand = {
  summary: 'Opens a shell in the guest with the ssh of this machine, or runs what stands after --',
  words: 'NAME [options] [-- COMMAND]',
  options: {
    user: { type: 'string', short: 'l' },
    identity: { type: 'string', short: 'i' },
    port: { type: 'string', short: 'p' },
  },
  help: `  -l, --user NAME      default: the user here
  -i, --identity FILE  the private key
  -p, --port PORT      of the guest; default: 22
`,
  async run(call) {
    await instancePath(call);
    const child = spawn('ssh', sshArguments(call, process.execPath, process.argv[1] ?? 'sheaf'), {
      stdio: 'inherit',
    });
    const ended = new Promise<number>((resolve, reject) => {
      child.once('exit', (code) => resolve(code ?? 1));
      child.once('error', () =>
        reject(new Error('ssh cannot be started. Install openssh-client, or use sheaf vm console')),
      );
    });
    return await ended;
  },
};

/** ssh over a connection that another `sheaf` carries; each machine has a host key of its own, whatever address it has. */
export function sshArguments(
  { namespace, given: [name = ''], flags, further, connection }: MachineCall,
  node: string,
  program: string,
): readonly string[] {
  const port = textOf(flags, 'port') ?? '22';
  const carrier = [node, program, 'vm', 'port-forward', name, port, '-n', namespace, ...connection];
  const host = `${name}.${namespace}.vm`;
  const user = textOf(flags, 'user');
  const identity = textOf(flags, 'identity');
  return [
    '-o',
    `ProxyCommand=${carrier.map(quoted).join(' ')}`,
    '-o',
    `HostKeyAlias=${host}`,
    '-o',
    'StrictHostKeyChecking=accept-new',
    ...(identity === undefined ? [] : ['-i', identity]),
    user === undefined ? host : `${user}@${host}`,
    ...further,
  ];
}

/** ssh takes `%` for itself and gives the rest to a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll('%', '%%').replaceAll("'", `'\\''`)}'`;
}
