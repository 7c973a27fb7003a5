import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { settingTable } from '../../packages/features/setting/setting-table.ts';
import { instanceCoverage } from '../../packages/features/vm/instance-coverage.ts';
import type { Coverage } from '../../packages/features/vm/spec-coverage.ts';
import { type CompatibilityList, compatibilityLists } from './compatibility-lists.ts';
import { ServedSchemas, servedColumns, servedExtensions, servedRequests } from './served-surface.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = ['docs/compatibility.md', ...globSync('docs/compatibility/*.md', { cwd: root })];
const lists = pages.flatMap((page) => compatibilityLists(page, readFileSync(join(root, page), 'utf8')));

function listsOf(subject: string): readonly CompatibilityList[] {
  return lists.filter((list) => list.subject === subject || list.subject.startsWith(`${subject} `));
}

function namesOf(of: readonly CompatibilityList[]): readonly string[] {
  return of.flatMap(({ rows }) => rows.map(({ name }) => name));
}

describe('the compatibility pages', () => {
  it('promise one of three things in each row of a list', () => {
    const others = lists.flatMap(({ page, rows }) =>
      rows
        .filter(({ promise }) => !['same', 'subset', 'own'].includes(promise))
        .map(({ name, promise }) => `${page}: ${name} is ${promise}`),
    );
    assert.deepEqual(others, []);
    assert.ok(lists.length > 20);
  });

  it('list every kind with its columns', () => {
    const listed = listsOf('kinds').flatMap(({ rows }) =>
      rows.map(({ name, cells: [columns = ''] }): [string, string] => [name, columns]),
    );
    assert.deepEqual(sorted(listed), sorted([...servedColumns()]));
  });

  it('list every setting, and which ones have no effect', () => {
    const rows = listsOf('settings').flatMap((list) => list.rows);
    assert.deepEqual(sorted(rows.map(({ name }) => name)), sorted(settingTable.map(({ name }) => name)));
    const kept = settingTable.filter(({ use }) => use.kind === 'kept').map(({ name }) => name);
    const withoutEffect = rows.filter(({ cells: [text = ''] }) => text.startsWith('kept'));
    assert.deepEqual(sorted(withoutEffect.map(({ name }) => name)), sorted(kept));
    assert.deepEqual(
      withoutEffect.filter(({ promise }) => promise !== 'subset'),
      [],
    );
  });

  it('list every request that is served, and none that is not', () => {
    const listed = listsOf('requests').flatMap(({ subject, rows }) => {
      const prefix = subject.slice('requests '.length);
      return rows.map(({ name }) =>
        name === '(none)' ? prefix.replace('?action=', '') : `${prefix}${name}`,
      );
    });
    const served = servedRequests(servedExtensions());
    assert.deepEqual(sorted(listed), sorted(served));
    const missing = namesOf(listsOf('missing'));
    assert.ok(missing.length > 0);
    assert.deepEqual(
      missing.filter((name) => served.includes(name)),
      [],
    );
  });

  it('list every field of the schemas that they speak of', () => {
    const schemas = new ServedSchemas();
    for (const { page, subject, rows } of listsOf('fields')) {
      const [, kind = '', path = ''] = subject.split(' ');
      const expected = schemas.fieldsAt(kind, path);
      assert.ok(expected.length > 0, `${page}: there is no ${path} in ${kind}`);
      assert.deepEqual(sorted(rows.map(({ name }) => name)), sorted(expected), `${page}: ${subject}`);
    }
  });

  it('promise of a field of instances what becomes of it', () => {
    for (const { page, subject, rows } of listsOf('fields virtualmachineinstances.kubevirt.io')) {
      const [, , path = ''] = subject.split(' ');
      if (!path.startsWith('spec')) continue;
      const at = coverageAt(path.split('.').slice(1));
      for (const { name, promise } of rows) {
        const coverage = below(at, name);
        const isRefused = typeof coverage === 'object' && 'refusedBecause' in coverage;
        if (coverage === undefined || isRefused)
          assert.equal(promise, 'subset', `${page}: ${path}.${name} is refused or without effect`);
      }
    }
  });
});

function sorted<T>(items: readonly T[]): readonly T[] {
  return [...items].sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

function coverageAt(path: readonly string[]): Coverage | undefined {
  return path.reduce((at: Coverage | undefined, name) => below(at, name), instanceCoverage);
}

/** What is below a field that is used or settled is so, too. */
function below(coverage: Coverage | undefined, name: string): Coverage | undefined {
  if (coverage === undefined || typeof coverage === 'string' || 'refusedBecause' in coverage) return coverage;
  return Object.hasOwn(coverage, name) ? coverage[name] : undefined;
}
