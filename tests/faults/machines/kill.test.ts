import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../program.ts';
import { runMachineKills } from './kill.ts';

const emulator = await runProgram('sh', ['-c', 'command -v qemu-system-x86_64 && command -v qemu-img']);
const skip = emulator.code === 0 ? false : 'there is no QEMU';

test('machines and their disks survive a Sheaf that is killed in the middle of what is asked of it', {
  skip,
}, async (context) => {
  const summary = await runMachineKills(6, 1);
  context.diagnostic(JSON.stringify(summary));
  assert.deepEqual(summary.deeds, { create: 1, stop: 1, clone: 1, plug: 1, snapshot: 1, delete: 1 });
  assert.ok(summary.guestsAsked > 6, 'hardly any guest was asked');
});
