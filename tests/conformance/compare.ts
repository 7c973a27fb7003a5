/**
 * Plays themes against a server and prints where its answers are not those that were recorded.
 *
 *   node tests/conformance/compare.ts [--kubeconfig FILE] [THEME…]
 *
 * Without a kubeconfig: our API server, in this process.
 */
import { parseArgs } from 'node:util';
import { readDeliberate } from './deliberate.ts';
import { playTheme } from './play.ts';
import { readRecording } from './recording.ts';
import { serverOf, startOwnServer } from './servers.ts';
import { Target } from './target.ts';
import { readThemes } from './theme.ts';
import { briefly, describeDifference, judge } from './verdict.ts';

const { values, positionals } = parseArgs({
  options: { kubeconfig: { type: 'string' } },
  allowPositionals: true,
});

async function compareAll(target: Target): Promise<void> {
  const deliberate = [
    ...(await readDeliberate()),
    ...(values.kubeconfig === undefined ? [] : await readDeliberate('with-controllers.yaml')),
  ];
  const sums = { pairs: 0, equal: 0, deliberate: 0, different: 0 };
  for (const theme of await readThemes(positionals)) {
    const recorded = await readRecording(theme.name);
    for (const { title, unexpected, allowedBy } of judge(theme.name, {
      recorded,
      ours: await playTheme(target, theme),
      deliberate,
    })) {
      sums.pairs++;
      sums[unexpected.length > 0 ? 'different' : allowedBy.length > 0 ? 'deliberate' : 'equal']++;
      if (unexpected.length === 0) continue;
      console.log(`\n✖ ${theme.name}: ${title}`);
      const told = briefly(unexpected);
      for (const difference of told.slice(0, 12)) console.log(`  ${describeDifference(difference)}`);
      if (told.length > 12) console.log(`  … and ${told.length - 12} more`);
    }
  }
  console.log(
    `\n${sums.pairs} pairs: ${sums.equal} equal, ${sums.deliberate} deliberately different, ${sums.different} different`,
  );
  process.exitCode = sums.different > 0 ? 1 : 0;
}

const own = values.kubeconfig === undefined ? await startOwnServer() : undefined;
const target = new Target(own ? own.address : await serverOf(values.kubeconfig ?? ''));
try {
  await compareAll(target);
} finally {
  target.close();
  await own?.stop();
}
