/**
 * Plays stories against our controllers and prints where their pictures are not those that were recorded.
 *
 *   node tests/conformance/statuses/compare.ts [STORY…]
 */
import { describeDifference } from '../verdict.ts';
import { readDeliberate } from './deliberate.ts';
import { judgeStory } from './judge.ts';
import { withOwnControllers } from './own-controllers.ts';
import { playStory } from './play.ts';
import { readRecording } from './recording.ts';
import { readStories } from './story.ts';

const deliberate = await readDeliberate();
let different = 0;
for (const story of await readStories(process.argv.slice(2)))
  await withOwnControllers(async (subject) => {
    const { pictures } = await readRecording(story.name);
    for (const { title, unexpected } of judgeStory(story.name, {
      recorded: pictures,
      ours: await playStory(subject, story),
      deliberate,
    })) {
      different += unexpected.length;
      if (unexpected.length > 0) console.log(`\n✖ ${story.name}: ${title}`);
      for (const difference of unexpected) console.log(`  ${describeDifference(difference)}`);
    }
  });
console.log(`\n${different} differences`);
process.exitCode = different > 0 ? 1 : 0;
