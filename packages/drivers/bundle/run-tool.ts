import { type ExecFileException, execFile } from 'node:child_process';

/** A bundle cannot be made, and why; for people. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

export interface ToolOptions {
  readonly signal: AbortSignal;
  /** Beside the environment of whoever makes the bundle: their logins and proxies are meant. */
  readonly environment?: Readonly<Record<string, string>>;
}

const longestOutput = 256 * 2 ** 20;
const keptLines = 4;

/** What a program prints. @throws BundleError with its last words */
export function runTool(
  program: string,
  args: readonly string[],
  { signal, environment }: ToolOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      {
        encoding: 'buffer',
        maxBuffer: longestOutput,
        env: { ...process.env, ...environment },
        signal,
      },
      (error, output, errors) => {
        if (!error) resolve(output);
        else reject(new BundleError(wordsOf(program, error, errors), { cause: error }));
      },
    );
    child.stdin?.end();
  });
}

function wordsOf(program: string, error: ExecFileException, errors: Buffer): string {
  if (error.code === 'ENOENT')
    return `${program} is not on this host; install it: apt-get install ${program}`;
  const lines = errors
    .toString()
    .trim()
    .split('\n')
    .filter((line) => !/^(WARNING|W\d{4}|I\d{4})/.test(line));
  const words = lines.slice(-keptLines).join('; ') || error.message;
  return words.replace(/^Error: /, '').replace(/^time="[^"]*" level=fatal msg=/, '');
}
