import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isGoing } from './process-identity.ts';

/** As the kernel tells it: the 18th is how many threads there are. */
function fieldsOf(state: string, threads: number): readonly string[] {
  return [state, ...Array.from({ length: 16 }, () => '0'), String(threads), '0', '4711'];
}

describe('whether a process is going on', () => {
  const cases: readonly [string, string, number, boolean][] = [
    ['it runs', 'R', 1, true],
    ['it has ended, and nobody has asked how', 'Z', 1, false],
    ['its first thread has ended before the others, which hold its files', 'Z', 3, true],
    ['it is just being let go of', 'X', 0, false],
  ];
  for (const [name, state, threads, expected] of cases)
    it(`${name}: ${expected}`, () => assert.equal(isGoing(fieldsOf(state, threads)), expected));
});
