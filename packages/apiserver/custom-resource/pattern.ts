import { RE2JS } from 're2js';

/** A compiled RE2 pattern: true when it matches anywhere in the text. */
export type PatternTest = (text: string) => boolean;

/**
 * Patterns of a simple shape mean the same in RE2 and in JavaScript and are matched by the platform, about ten times
 * faster: anchored at both ends, ASCII, single characters and classes, groups that are not repeated, at most one part of
 * open length and three optional ones. Matching them takes time proportional to the text.
 */
const characterClass = String.raw`\[(?:[A-Za-z0-9_./:@ +,=~-]|\\[-./dw])+\]`;
const atom = String.raw`(?:${characterClass}|[A-Za-z0-9_/:@ ,=~-]|\\[-./dw])`;
const part = String.raw`${atom}(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?`;
const simple = new RegExp(String.raw`^\^(?:${part}|\((?:\?:)?(?:${part}|\|)*\)\??)*\$$`);

/** Customary patterns beyond that shape, whose repeated groups start with a character that occurs nowhere else. */
const customary: ReadonlySet<string> = new Set([
  String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
  String.raw`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`,
]);

function isSimple(pattern: string): boolean {
  if (customary.has(pattern)) return true;
  if (pattern.length > 500 || !simple.test(pattern)) return false;
  const outside = pattern.replaceAll(new RegExp(characterClass, 'g'), 'x').replaceAll(/\\./g, 'x');
  const open = outside.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  const optional = outside.replaceAll('(?:', '(').match(/\?/g) ?? [];
  return open.length <= 1 && optional.length <= 3;
}

const cache = new Map<string, PatternTest>();
const maxCached = 10_000;

/** Compiles an RE2 pattern, once per distinct text. Throws an Error that tells what is wrong with it. */
export function compilePattern(pattern: string): PatternTest {
  const known = cache.get(pattern);
  if (known) return known;
  const compiled = compile(pattern);
  if (cache.size >= maxCached) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): PatternTest {
  const expression = RE2JS.compile(pattern);
  if (isSimple(pattern)) {
    const native = new RegExp(pattern);
    return (text) => native.test(text);
  }
  return (text) => expression.test(text);
}

/** What is wrong with a pattern, or nothing. */
export function patternFault(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
