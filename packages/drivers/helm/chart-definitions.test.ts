import assert from 'node:assert/strict';
import { it } from 'node:test';
import { definitionsWords, readDefinitionsWords } from '@sheaf/ports';
import { definitionNames } from './chart-definitions.ts';

it('the definitions of a chart are named by its last words, as many as there is room for', async () => {
  const crd = (name: string): string => `---\nkind: CustomResourceDefinition\nmetadata:\n  name: ${name}\n`;
  const names = await definitionNames(
    `${crd('a.example')}---\nkind: Other\nmetadata: {name: x}\n---\n${crd('b.example')}`,
  );
  assert.deepEqual(names, ['a.example', 'b.example']);
  assert.deepEqual(readDefinitionsWords(definitionsWords(names)), names);
  assert.deepEqual(await definitionNames(''), []);
  assert.equal(definitionsWords([]), '');
  assert.deepEqual(readDefinitionsWords('it ended well'), []);
  const many = Array.from({ length: 500 }, (_, index) => `kind-${index}.example`);
  const words = definitionsWords(many);
  const read = readDefinitionsWords(words);
  assert.ok(words.length <= 4000 && read.length > 100);
  assert.deepEqual(read, many.slice(0, read.length));
});
