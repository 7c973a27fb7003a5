import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addonsAreMissing } from '../../addons/addon-host.ts';
import { runAddonKills } from './kill.ts';

/** Each deed twice, each victim twice. More by night: `npm run kill-addons`. */
const kills = 6;

test('an add-on comes to what was asked for whoever is killed on the way, and leaves nothing when it is off', {
  skip: addonsAreMissing ?? false,
}, async (context) => {
  const summary = await runAddonKills(kills, 1);
  context.diagnostic(JSON.stringify(summary));
  assert.equal(summary.kills, kills);
});
