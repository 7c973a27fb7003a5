import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hookIn } from './hook-log.ts';

describe('the hook that Helm names', () => {
  const cases: readonly [string, object | undefined][] = [
    [
      'failed pre-install: 1 error occurred:\n\t* job web-check failed: BackoffLimitExceeded\n\n',
      { kind: 'job', name: 'web-check' },
    ],
    [
      'failed pre-install: resource Job/default/web-check not ready. status: Failed, message: Job Failed. failed: 1/1',
      { kind: 'job', name: 'web-check' },
    ],
    ['failed post-upgrade: pod web-check failed', { kind: 'pod', name: 'web-check' }],
    ['failed post-install: timed out waiting for the condition', undefined],
  ];
  for (const [words, hook] of cases) it(JSON.stringify(words), () => assert.deepEqual(hookIn(words), hook));
});
