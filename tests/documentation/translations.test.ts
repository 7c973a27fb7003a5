import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { commandBlocks, relativeLinks, skeletonOf } from './markdown.ts';

const root = resolve(import.meta.dirname, '../..');
const suffix = '.zh-CN.md';
const translations = globSync(['*.zh-CN.md', 'docs/**/*.zh-CN.md'], { cwd: root });

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

describe('a page in Chinese', () => {
  it('is there for the README and every guide', () => {
    const originals = ['README.md', ...globSync('docs/guide/*.md', { cwd: root })].filter(
      (page) => !page.endsWith(suffix),
    );
    assert.ok(originals.length > 1);
    const wanted = originals.map((page) => page.replace(/\.md$/, suffix));
    assert.deepEqual([...translations].sort(), wanted.sort());
  });

  for (const translation of translations) {
    const original = translation.replace(suffix, '.md');
    it(`${translation} has the commands of its original, which alone are run`, () => {
      assert.ok(existsSync(join(root, original)));
      assert.deepEqual(commandsOf(translation), commandsOf(original));
    });

    it(`${translation} has the headings, blocks and tables of its original`, () => {
      assert.deepEqual(skeletonOf(read(translation)), skeletonOf(read(original)));
    });

    it(`${translation} and its original lead to each other`, () => {
      assert.ok(relativeLinks(read(translation)).includes(basename(original)));
      assert.ok(relativeLinks(read(original)).includes(basename(translation)));
    });
  }
});

/** Remarks behind a command may be translated. */
function commandsOf(page: string): readonly unknown[] {
  return commandBlocks(read(page)).map(({ commands, run }) => [commands.replace(/ +# .*$/gm, ''), run]);
}

it('the skeleton of a page leaves out its words alone', () => {
  const page =
    '# A\n\ntext | text\n\n```sh\n# no heading\n| no table\n```\n\n| a | b |\n|---|---|\n| `c\\|d` | e |\n\n## B\n';
  assert.deepEqual(skeletonOf(page), ['#', 'block sh', 'row of 2', 'row of 2', 'row of 2', '##']);
});
