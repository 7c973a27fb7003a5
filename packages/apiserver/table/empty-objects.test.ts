import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@sheaf/testkit';

test('every kind has cells for an object that has nothing, as bookmarks of tables do', async () => {
  const { server, close } = await startTestServer();
  try {
    for (const { kind, columns, strategy } of server.registry.all()) {
      const { length } = columns.cells(strategy.emptyObject(), 0);
      // An IPAddress has a cell more than columns, in the original too.
      assert.equal(length, columns.definitions.length + (kind === 'IPAddress' ? 1 : 0), kind);
    }
  } finally {
    await close();
  }
});
