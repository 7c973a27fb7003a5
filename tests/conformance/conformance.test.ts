import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Deliberate, readDeliberate } from './deliberate.ts';
import { playTheme } from './play.ts';
import { readRecording } from './recording.ts';
import { type OpenServer, startOwnServer } from './servers.ts';
import { Target } from './target.ts';
import { readThemes } from './theme.ts';
import { judge, tellUnexpected } from './verdict.ts';

let server: OpenServer;
let target: Target;

before(async () => {
  server = await startOwnServer();
  target = new Target(server.address);
});

after(async () => {
  target.close();
  await server.stop();
});

const themes = await readThemes();
const deliberate = await readDeliberate();
const needed = new Set<Deliberate>();

for (const theme of themes) {
  test(`${theme.name}: answers as the recorded kube-apiserver does`, async (context) => {
    const recorded = await readRecording(theme.name);
    const ours = await playTheme(target, theme);
    assert.deepEqual(
      [...recorded.keys()],
      theme.exchanges.map(({ title }) => title),
      'the recording is of another list of pairs: record again',
    );
    const verdicts = judge(theme.name, { recorded, ours, deliberate });
    for (const { allowedBy } of verdicts) for (const entry of allowedBy) needed.add(entry);
    const told = tellUnexpected(verdicts);
    context.diagnostic(`${verdicts.length} pairs`);
    assert.equal(told.length, 0, told.join('\n'));
  });
}

test('every deliberate difference is still there', () => {
  const unneeded = deliberate.filter((entry) => !needed.has(entry));
  assert.deepEqual(unneeded, []);
});
