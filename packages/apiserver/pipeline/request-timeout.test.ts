import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestTimeout } from './request-timeout.ts';

const path = '/api/v1/pods';

test('a client may give a request less time than the server does', () => {
  const asked = ['1s', '1m30s', '1.5s', '250ms', '0', '-1s', '2h'].map((timeout) =>
    requestTimeout({ path, query: `limit=1&timeout=${timeout}` }),
  );
  assert.deepEqual(asked, [1000, 60_000, 1500, 250, 60_000, 60_000, 60_000]);
});

test('nothing is said by other parameters, and nothing to long-running requests', () => {
  assert.equal(requestTimeout({ path, query: 'timeoutSeconds=5' }), undefined);
  assert.equal(requestTimeout({ path, query: 'watch=true&timeout=1s' }), undefined);
  assert.equal(requestTimeout({ path: '/api/v1/namespaces/a/pods/p/log', query: 'timeout=1s' }), undefined);
});

test('what is no duration is refused', () => {
  for (const timeout of ['soon', '10', '1x', 's', '1s1', '9'.repeat(200)])
    assert.throws(() => requestTimeout({ path, query: `timeout=${timeout}` }), /invalid timeout specified/);
});
