import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDifference } from '../verdict.ts';
import { type DeliberateStatus, readDeliberate } from './deliberate.ts';
import { judgeStory } from './judge.ts';
import { withOwnControllers } from './own-controllers.ts';
import { playStory } from './play.ts';
import { readRecording } from './recording.ts';
import { readStories } from './story.ts';

const deliberate = await readDeliberate();
const needed = new Set<DeliberateStatus>();

for (const story of await readStories()) {
  test(`${story.name}: statuses and events are those of the recorded controllers`, () =>
    withOwnControllers(async (subject) => {
      const { pictures: recorded } = await readRecording(story.name);
      const ours = await playStory(subject, story);
      assert.deepEqual(
        [...recorded.keys()],
        [...ours.keys()],
        'the recording is of other steps: record again',
      );
      const verdicts = judgeStory(story.name, { recorded, ours, deliberate });
      for (const { allowedBy } of verdicts) for (const entry of allowedBy) needed.add(entry);
      const told = verdicts.flatMap(({ title, unexpected }) =>
        unexpected.map((difference) => `"${title}" ${describeDifference(difference)}`),
      );
      assert.equal(told.length, 0, told.join('\n'));
    }));
}

test('every deliberate difference is still there', () => {
  assert.deepEqual(
    deliberate.filter((entry) => !needed.has(entry)),
    [],
  );
});
