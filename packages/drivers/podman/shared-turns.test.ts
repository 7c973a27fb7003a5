import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedTurns } from './shared-turns.ts';

describe('shared turns', () => {
  it('are taken by many at once, or by one alone', async () => {
    const turns = new SharedTurns();
    const log: string[] = [];
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const task = (name: string) => async (): Promise<void> => {
      log.push(`${name} begins`);
      const gate = Promise.withResolvers<void>();
      gates.set(name, gate);
      await gate.promise;
      log.push(`${name} ends`);
    };
    const finish = async (name: string): Promise<void> => {
      gates.get(name)?.resolve();
      await rest();
    };
    const all = [
      turns.share(task('a')),
      turns.share(task('b')),
      turns.alone(task('c')),
      turns.share(task('d')),
      turns.alone(task('e')),
    ];
    await rest();
    for (const name of ['b', 'a', 'c', 'd', 'e']) await finish(name);
    await Promise.all(all);
    const both = (name: string): string[] => [`${name} begins`, `${name} ends`];
    assert.deepEqual(log, ['a begins', 'b begins', 'b ends', 'a ends', ...['c', 'd', 'e'].flatMap(both)]);
  });

  it('go on after one that failed', async () => {
    const turns = new SharedTurns();
    const failure = new Error('it failed');
    const fail = (): Promise<never> => Promise.reject(failure);
    await assert.rejects(turns.share(fail), failure);
    await assert.rejects(turns.alone(fail), failure);
    assert.equal(await turns.share(() => Promise.resolve(1)), 1);
    assert.equal(await turns.alone(() => Promise.resolve(2)), 2);
  });
});

/** Until what can go on has gone on. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
