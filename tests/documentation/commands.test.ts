import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { findHelm, findKubectl } from '../tools.ts';
import { containersAreMissing } from '../workloads/workload-host.ts';
import { GuideSession } from './guide-session.ts';
import { type CommandBlock, commandBlocks } from './markdown.ts';

const root = resolve(import.meta.dirname, '../..');
/** Translations have the commands of their originals, which `translations.test.ts` sees to. */
const guides = globSync(['*.md', 'docs/**/*.md'], {
  cwd: root,
  exclude: ['docs/adr/**', '**/*.zh-CN.md'],
}).sort();
const kubectl = existsSync(join(root, 'apps/sheaf/main.ts'))
  ? await findKubectl()
  : { missing: 'the server is not there yet' };
const helm = await findHelm();

/** What a guide needs of this host that is not there. */
const needed: Readonly<Record<string, string | undefined>> = {
  'docs/guide/addons.md': containersAreMissing ?? ('missing' in helm ? helm.missing : undefined),
  'docs/guide/workloads.md': containersAreMissing,
};

for (const guide of guides) {
  const blocks = commandBlocks(readFileSync(join(root, guide), 'utf8'));
  if (blocks.length === 0) continue;
  const skip = 'missing' in kubectl ? kubectl.missing : (needed[guide] ?? false);
  test(`the commands of ${guide} do what it says`, { skip }, async (context) => {
    if ('missing' in kubectl) return;
    const session = await GuideSession.open(kubectl.path);
    for (const block of blocks) {
      const options = block.run.kind === 'skip' ? { skip: block.run.reason } : {};
      await context.test(`${guide}:${block.line}`, options, () => follow(session, block));
    }
    await context.test('what it started stops cleanly', () => session.close());
  });
}

async function follow(session: GuideSession, { run, commands }: CommandBlock): Promise<void> {
  if (run.kind === 'background') await session.start(commands, run.readyText);
  else await session.run(commands);
}
