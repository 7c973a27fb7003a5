import assert from 'node:assert/strict';
import { it } from 'node:test';
import { farewell } from './up.ts';

it('a stop says what runs on, and nothing where nothing does', () => {
  const words = (machines: number, pods: number): string | undefined =>
    farewell({ machines, pods })?.replace(/, and the next start.*/, '');
  assert.equal(words(0, 0), undefined);
  assert.equal(words(1, 0), 'Sheaf has stopped; 1 virtual machine runs on');
  assert.equal(words(0, 1), 'Sheaf has stopped; 1 pod runs on');
  assert.equal(words(2, 3), 'Sheaf has stopped; 2 virtual machines and 3 pods run on');
});
