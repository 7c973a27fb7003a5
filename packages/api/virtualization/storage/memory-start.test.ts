import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryStartOf, memoryStartText, startFromMemoryAnnotation } from './memory-start.ts';

const asked = (text: string) => ({ metadata: { annotations: { [startFromMemoryAnnotation]: text } } });

describe('a start with memory', () => {
  it('is read as it was asked for, whatever the order of its claims', () => {
    const text = memoryStartText({ memoryId: 'm', claims: ['b', 'a'] });
    assert.equal(text, memoryStartText({ memoryId: 'm', claims: ['a', 'b'] }));
    assert.deepEqual(memoryStartOf(asked(text)), { memoryId: 'm', claims: ['a', 'b'] });
  });

  it('is none where it says nothing that can be understood', () => {
    assert.equal(memoryStartOf({ metadata: {} }), undefined);
    for (const text of ['', '{', 'null', '[]', '{"memoryId":1,"claims":[]}', '{"memoryId":"m"}'])
      assert.equal(memoryStartOf(asked(text)), undefined, text);
  });
});
