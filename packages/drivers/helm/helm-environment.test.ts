import assert from 'node:assert/strict';
import { it } from 'node:test';
import { helmEnvironment } from './helm-environment.ts';

it('Helm bears the name of its run, knows the proxies, and nothing else of the variables around it', () => {
  const variables = { SHEAF_RUN: 'run-1', HTTPS_PROXY: 'http://proxy', SECRET: 'no', SHEAF_HELM: '/helm' };
  const environment = helmEnvironment({ work: '/work', driver: 'secret', variables });
  const known = Object.fromEntries(
    Object.entries(environment).filter(([name]) => name in variables || name === 'HELM_DRIVER'),
  );
  assert.deepEqual(known, { SHEAF_RUN: 'run-1', HTTPS_PROXY: 'http://proxy', HELM_DRIVER: 'secret' });
});
