import { intType, listOf, stringType } from '../checker/type.ts';
import { regexCost } from '../values/cost.ts';
import { ArrayList, type ListValue } from '../values/value.ts';
import { method, type Overload } from './overload.ts';
import { requirePattern } from './pattern.ts';

function find(text: string, pattern: string): string {
  const matcher = requirePattern(pattern).matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

function findAll(text: string, pattern: string, limit: bigint): ListValue {
  const matcher = requirePattern(pattern).matcher(text);
  const found: string[] = [];
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  let end = -1;
  while (found.length < most && matcher.find()) {
    // Empty matches right behind a match do not count.
    if (matcher.start() !== matcher.end() || matcher.start() !== end) found.push(matcher.group() ?? '');
    end = matcher.end();
  }
  return new ArrayList(found);
}

/** Kubernetes' regular expression functions; `matches` belongs to the standard library. */
export const regexLibrary: Readonly<Record<string, readonly Overload[]>> = {
  find: [method({ params: [stringType, stringType], result: stringType, call: find, cost: regexCost })],
  findAll: [
    method({
      params: [stringType, stringType],
      result: listOf(stringType),
      call: (text, pattern) => findAll(text, pattern, -1n),
      cost: regexCost,
    }),
    method({
      params: [stringType, stringType, intType],
      result: listOf(stringType),
      call: findAll,
      cost: regexCost,
    }),
  ],
};
