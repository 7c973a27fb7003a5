import assert from 'node:assert/strict';
import { it } from 'node:test';
import { applyArguments } from './apply-arguments.ts';

it('how objects are applied is told to Helm 4 alone, and an installation is not told what it does not know', async () => {
  const helm = (version: string) => ({ call: () => Promise.resolve(version) });
  const auto = { serverSide: 'auto', forcesConflicts: false } as const;
  const forced = { serverSide: 'true', forcesConflicts: true } as const;
  assert.deepEqual(await applyArguments(helm('v3.18.0'), forced, 1), []);
  assert.deepEqual(await applyArguments(helm('v4.0.0'), forced, 1), [
    '--server-side=true',
    '--force-conflicts',
  ]);
  assert.deepEqual(await applyArguments(helm('v4.0.0'), auto, 1), []);
  assert.deepEqual(await applyArguments(helm('v4.0.0'), auto, 2), ['--server-side=auto']);
});
