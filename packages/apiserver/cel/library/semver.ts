import { boolType, intType, opaqueType, stringType } from '../checker/type.ts';
import { traversal } from '../values/cost.ts';
import { failure } from '../values/failure.ts';
import { maxUint64 } from '../values/number.ts';
import { Opaque } from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';

const name = 'kubernetes.Semver';

export class Semver extends Opaque {
  readonly type = name;
  readonly core: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];

  constructor(core: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    super();
    this.core = core;
    this.prerelease = prerelease;
  }

  equals(other: Opaque): boolean {
    return other instanceof Semver && compare(this, other) === 0n;
  }
}

export const semverType = opaqueType<Semver>(name);

const number = '(0|[1-9]\\d{0,19})';
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const versionText = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${identifiers}))?(?:\\+(${identifiers}))?$`,
);

function parse(text: string): Semver | undefined {
  const match = text.length > 1000 ? null : versionText.exec(text);
  if (!match) return undefined;
  const [, major = '', minor = '', patch = '', prerelease = ''] = match;
  const core = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  if (core.some((part) => part > maxUint64)) return undefined;
  const parts = prerelease === '' ? [] : prerelease.split('.');
  return parts.some((part) => /^0\d+$/.test(part)) ? undefined : new Semver(core, parts);
}

/** Drops a `v`, leading zeros, and adds missing minor and patch numbers. */
function normalize(text: string): string | undefined {
  const bare = text.startsWith('v') ? text.slice(1) : text;
  const [major = '', minor, ...rest] = bare.split('.');
  const parts = [major, minor, rest.length > 0 ? rest.join('.') : undefined].filter(
    (part) => part !== undefined,
  );
  const trimmed = parts.map((part) =>
    part.length > 1 ? part.replace(/^0+(?=\d)/, '').replace(/^0+(?=\D|$)/, '0') : part,
  );
  if (trimmed.length < 3 && /[+-]/.test(trimmed.at(-1) ?? '')) return undefined;
  while (trimmed.length < 3) trimmed.push('0');
  return trimmed.join('.');
}

function read(text: string, isTolerant: boolean): Semver | undefined {
  const normal = isTolerant ? normalize(text) : text;
  return normal === undefined ? undefined : parse(normal);
}

function readOrFail(text: string, isTolerant: boolean): Semver {
  const version = read(text, isTolerant);
  if (!version) throw failure(isTolerant ? explainTolerant(text) : explain(text));
  return version;
}

function explainTolerant(text: string): string {
  const normal = normalize(text);
  return normal === undefined ? 'short version cannot contain PreRelease/Build meta data' : explain(normal);
}

function explain(text: string): string {
  if (text === '') return 'Version string empty';
  const parts = text.split('.');
  if (parts.length < 3) return 'No Major.Minor.Patch elements found';
  const [major = '', minor = '', ...rest] = parts;
  const numbers = [major, minor, rest.join('.').split(/[-+]/)[0] ?? ''];
  const problems = ['Major', 'Minor', 'Patch'].map((name, index) =>
    numberProblem(name, numbers[index] ?? ''),
  );
  return problems.find((problem) => problem !== undefined) ?? `Invalid version ${JSON.stringify(text)}`;
}

function numberProblem(name: string, digits: string): string | undefined {
  if (!/^\d+$/.test(digits))
    return `Invalid character(s) found in ${name.toLowerCase()} number ${JSON.stringify(digits)}`;
  return /^0\d/.test(digits)
    ? `${name} number must not contain leading zeroes ${JSON.stringify(digits)}`
    : undefined;
}

function compare(a: Semver, b: Semver): bigint {
  for (const [index, left] of a.core.entries()) {
    const right = b.core[index] ?? 0n;
    if (left !== right) return left < right ? -1n : 1n;
  }
  return comparePrerelease(a.prerelease, b.prerelease);
}

function comparePrerelease(a: readonly string[], b: readonly string[]): bigint {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0n : a.length === 0 ? 1n : -1n;
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareIdentifier(a[index] ?? '', b[index] ?? '');
    if (order !== 0n) return order;
  }
  return BigInt(Math.sign(a.length - b.length));
}

function compareIdentifier(a: string, b: string): bigint {
  if (a === b) return 0n;
  const [left, right] = [a, b].map((text) => (/^\d+$/.test(text) ? BigInt(text) : undefined));
  if (left !== undefined && right !== undefined) return left < right ? -1n : left > right ? 1n : 0n;
  if (left !== undefined) return -1n;
  if (right !== undefined) return 1n;
  return a < b ? -1n : 1n;
}

/** An unsigned part as CEL's int; larger ones wrap as in Go. */
function part(index: 0 | 1 | 2): Overload[] {
  return [
    method({
      params: [semverType],
      result: intType,
      call: (version) => BigInt.asIntN(64, version.core[index]),
    }),
  ];
}

const pair = [semverType, semverType] as const;
function cost(text: string): number {
  return traversal(text);
}

/** `semver()` and what can be done with one. */
export const semverLibrary: Readonly<Record<string, readonly Overload[]>> = {
  semver: [
    plain({ params: [stringType], result: semverType, call: (text) => readOrFail(text, false), cost }),
    plain({
      params: [stringType, boolType],
      result: semverType,
      call: (text, tolerant) => readOrFail(text, tolerant),
      cost,
    }),
  ],
  isSemver: [
    plain({ params: [stringType], result: boolType, call: (text) => read(text, false) !== undefined, cost }),
    plain({
      params: [stringType, boolType],
      result: boolType,
      call: (text, tolerant) => read(text, tolerant) !== undefined,
      cost,
    }),
  ],
  isGreaterThan: [method({ params: pair, result: boolType, call: (a, b) => compare(a, b) > 0n })],
  isLessThan: [method({ params: pair, result: boolType, call: (a, b) => compare(a, b) < 0n })],
  compareTo: [method({ params: pair, result: intType, call: compare })],
  major: part(0),
  minor: part(1),
  patch: part(2),
};
