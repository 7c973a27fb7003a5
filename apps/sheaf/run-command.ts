import { toError } from '@sheaf/base';
import { KubeconfigError } from '@sheaf/client';
import { StoreFault } from '@sheaf/store';
import { type Arguments, readArguments } from './arguments.ts';
import { UsageError } from './up-options.ts';

export interface CommandShape extends Omit<Parameters<typeof readArguments>[1], never> {
  readonly name: string;
  readonly usage: string;
  /** Resolves with the exit code. */
  run(given: Arguments): Promise<number>;
}

/** Reads the arguments, runs, and turns failures into sentences for people: 2 for a wrong use, 1 for a failure. */
export async function runShape(shape: CommandShape, args: readonly string[]): Promise<number> {
  try {
    const given = readArguments(args, shape);
    if (given !== 'help') return await shape.run(given);
    process.stdout.write(shape.usage);
    return 0;
  } catch (thrown) {
    return told(shape, toError(thrown));
  }
}

function told({ name, usage }: CommandShape, error: Error): number {
  const prefix = `sheaf ${name}: ${error.message}\n`;
  if (error instanceof UsageError) {
    process.stderr.write(`${prefix}\n${usage}`);
    return 2;
  }
  process.stderr.write(prefix + wayOutOf(error));
  return 1;
}

function wayOutOf(error: Error): string {
  if (error instanceof StoreFault) return `  ${error.wayOut}\n`;
  if (error instanceof KubeconfigError) return '  Is this the data directory of a server? See --data-dir.\n';
  if ('code' in error && error.code === 'ECONNREFUSED')
    return '  No server answers there. Start it with `sheaf up`, or name its data directory with --data-dir.\n';
  return '';
}
