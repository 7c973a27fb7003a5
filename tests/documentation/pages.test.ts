import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { commandBlocks, relativeLinks } from './markdown.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/**/*.md', '{packages,apps,bench}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**', '**/fixtures/**'],
});

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

test('every link between the pages leads somewhere', () => {
  const broken = pages.flatMap((page) =>
    relativeLinks(read(page))
      .filter((target) => !existsSync(join(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test('every decision is listed in the index of the documents', () => {
  const decisions = globSync('docs/adr/*.md', { cwd: root });
  const linked = relativeLinks(read('docs/README.md'));
  const missing = decisions.filter((page) => !linked.includes(page.replace('docs/', '')));
  assert.deepEqual(missing, []);
});

test('every section of the compatibility page, and each page below it, names tests that are there', () => {
  const page = read('docs/compatibility.md');
  const details = globSync('docs/compatibility/*.md', { cwd: root }).map(read);
  const isProven = (text: string): boolean => /^Proof: /m.test(text);
  const unproven = [...page.split(/^## /m).slice(1), ...details]
    .filter((section) => !isProven(section))
    .map((section) => section.split('\n')[0]);
  assert.deepEqual(unproven, []);
  const proofs = [page, ...details].flatMap(proofsIn);
  assert.ok(proofs.length > 20);
  const missing = proofs.flatMap(withoutBraces).filter((path) => {
    const patterns = /\.[a-z]+$/.test(path) ? [path] : [`${path}/**/*.test.ts`, `${path}/*.yaml`];
    return globSync(patterns, { cwd: root }).length === 0;
  });
  assert.deepEqual(missing, []);
});

/** Paths, as code, in the paragraphs that begin with `Proof: `. */
function proofsIn(page: string): string[] {
  return [...page.matchAll(/^Proof: ([^]*?)\n\n/gm)].flatMap(([, text = '']) =>
    [...text.matchAll(/`([^`]*\/[^`]*)`/g)].map((match) => match[1] ?? ''),
  );
}

/** `a/{b,c}` is `a/b` and `a/c`. */
function withoutBraces(path: string): string[] {
  const [, before = '', choices] = /^(.*)\{(.*)\}$/.exec(path) ?? [];
  return choices === undefined ? [path] : choices.split(',').map((choice) => before + choice);
}

test('a block says how it is run', () => {
  const text = [
    '```sh\nnpm start\n```',
    '<!-- test: background until ready -->\n\n```sh\nnpm start\n```',
    '<!-- test: skip because it takes a day -->\n```sh\nsleep 86400\n```',
    '```text\nnot a command\n```',
  ].join('\n\n');
  assert.deepEqual(
    commandBlocks(text).map((block) => block.run),
    [{ kind: 'run' }, { kind: 'background', readyText: 'ready' }, { kind: 'skip', reason: 'it takes a day' }],
  );
});
