import { compilePattern } from '../library/pattern.ts';
import type { Call } from '../syntax/ast.ts';
import { parseDuration, parseTimestamp, timestampOf } from '../values/time.ts';
import type { CheckContext } from './context.ts';

const validators: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
  matches: (text) => compilePattern(text) !== undefined,
};

/** Reports literal durations, timestamps and regular expressions that cannot be read. */
export function checkLiteralArgument(context: CheckContext, node: Call): void {
  const isValid = Object.hasOwn(validators, node.name) ? validators[node.name] : undefined;
  const argument = node.args[0];
  if (!isValid || argument?.kind !== 'literal') return;
  if (typeof argument.value === 'bigint' && node.name === 'timestamp')
    checkSeconds(context, argument.value, argument.offset);
  if (typeof argument.value === 'string' && isCheckedCall(node) && !isValid(argument.value))
    context.report(argument.offset, `invalid ${node.name} argument`);
}

function isCheckedCall(node: Call): boolean {
  return node.name === 'matches' ? node.target !== undefined : node.args.length === 1;
}

function checkSeconds(context: CheckContext, seconds: bigint, offset: number): void {
  if (!timestampOf(seconds * 1_000_000_000n)) context.report(offset, 'invalid timestamp argument');
}
