import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Predicates } from './predicates.ts';

/**
 * One command of a transcript and what must be true of it. Patterns are regular expressions with flags `m` and `s` off.
 * `json` holds of the command's own output, or, with `see`, of `kubectl get <see> -o json` afterwards.
 */
export interface Step {
  readonly run: string;
  readonly input?: string;
  /** Expected exit code, default 0. */
  readonly code?: number;
  readonly out?: string | readonly string[];
  readonly err?: string | readonly string[];
  /** Patterns that must not be found in the output. */
  readonly not?: string | readonly string[];
  readonly see?: string;
  readonly json?: Predicates;
  /** The step only makes sense where controllers run. */
  readonly needs?: 'controllers';
  /** Repeat the command for up to this many seconds until everything holds. */
  readonly within?: number;
}

/** A theme: files for the working directory, and commands in their order, all in one namespace of its own (`$NS`). */
export interface Transcript {
  readonly title: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

const stepKeys = new Set(['run', 'input', 'code', 'out', 'err', 'not', 'see', 'json', 'needs', 'within']);

/** Reads a transcript and refuses misspelt keys, which would otherwise be checks that check nothing. */
export async function readTranscript(path: string): Promise<Transcript> {
  const transcript = parse(await readFile(path, 'utf8')) as Transcript;
  for (const step of transcript.steps) {
    const unknown = Object.keys(step).filter((key) => !stepKeys.has(key));
    if (unknown.length > 0) throw new Error(`${path}: unknown key ${unknown.join(', ')} at "${step.run}"`);
    if (typeof step.run !== 'string') throw new Error(`${path}: a step without run`);
  }
  return transcript;
}
