import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { customResourceDefinitions, kindDefinitions } from '../../virtualization/kind-definitions.ts';
import type { PublishedDefinition } from './published-definitions.ts';
import { typeFiles } from './type-files.ts';

it('the committed types are those of the committed schemas: else run write-definitions.ts', () => {
  const folder = join(import.meta.dirname, '..', '..', 'virtualization', 'generated');
  const committed = new Map(
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
  const definitions = customResourceDefinitions(kindDefinitions());
  const made = typeFiles(definitions as unknown as readonly PublishedDefinition[]);
  assert.deepEqual([...made.keys()].toSorted(), [...committed.keys()].toSorted());
  for (const [file, text] of made) assert.equal(text, committed.get(file), file);
});
