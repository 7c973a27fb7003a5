import { RE2JS } from 're2js';
import { failure } from '../values/failure.ts';

const cacheSize = 500;
const maxPatternLength = 10_000;
const cache = new Map<string, RE2JS | string>();

/** A regular expression in RE2 syntax; `undefined` if it is none. Recently used ones are kept. */
export function compilePattern(source: string): RE2JS | undefined {
  const pattern = lookUp(source);
  return typeof pattern === 'string' ? undefined : pattern;
}

/** The pattern, or what is wrong with it. */
function lookUp(source: string): RE2JS | string {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const made = compileNew(source);
  if (cache.size >= cacheSize) cache.clear();
  cache.set(source, made);
  return made;
}

function compileNew(source: string): RE2JS | string {
  if (source.length > maxPatternLength) return 'error parsing regexp: expression too large';
  try {
    return RE2JS.compile(source);
  } catch (error) {
    // Whatever is thrown, the source is no regular expression.
    return error instanceof Error ? error.message : 'error parsing regexp';
  }
}

/** Whether the pattern is found anywhere in the text. */
export function matchesPattern(text: string, source: string): boolean {
  return requirePattern(source).matcher(text).find();
}

/** Like `compilePattern`, but fails the evaluation. */
export function requirePattern(source: string): RE2JS {
  const pattern = lookUp(source);
  if (typeof pattern === 'string') throw failure(pattern);
  return pattern;
}
