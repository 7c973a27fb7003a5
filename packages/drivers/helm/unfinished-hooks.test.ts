import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unfinishedHooks } from './unfinished-hooks.ts';

const ends = ['Succeeded', 'Failed', 'Running', 'Unknown', ''] as const;
const policies = [[], ['before-hook-creation'], ['hook-succeeded'], ['hook-failed', 'before-hook-creation']];

/** For each policy the ends after which a hook of this kind goes. */
function going(kind: string): readonly string[] {
  return policies.map((delete_policies) => {
    const hooks = ends.map((phase) => ({ kind, delete_policies, last_run: { phase } }));
    const gone = unfinishedHooks(hooks).map(({ last_run: { phase } = {} }) => phase);
    return `${delete_policies.join()}: ${gone.join()}`;
  });
}

it('what a hook has left goes where its policy says so, or while nobody waits for its end any more', () => {
  assert.deepEqual(going('Job'), [
    ': Running,Unknown',
    'before-hook-creation: Running,Unknown',
    'hook-succeeded: Succeeded,Running,Unknown',
    'hook-failed,before-hook-creation: Failed,Running,Unknown',
  ]);
  assert.deepEqual(going('Pod'), going('Job'));
  assert.deepEqual(going('ConfigMap'), [
    ': ',
    'before-hook-creation: ',
    'hook-succeeded: Succeeded,Running,Unknown',
    'hook-failed,before-hook-creation: Failed,Running,Unknown',
  ]);
  assert.deepEqual(
    going('CustomResourceDefinition').join(),
    ': ,before-hook-creation: ,hook-succeeded: ,hook-failed,before-hook-creation: ',
  );
  // One that has not been begun.
  assert.deepEqual(unfinishedHooks([{ kind: 'Job', delete_policies: ['hook-succeeded'] }]), []);
});
