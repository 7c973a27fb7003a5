import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtinResources, type KubeObject } from '@sheaf/api';
import { readDefinition } from '../custom-resource/index.ts';
import { builtinColumns } from './builtin-columns.ts';
import type { TableCell, TableColumns } from './columns.ts';
import { customColumns } from './custom-columns.ts';
import customTable from './fixtures/custom-table.json' with { type: 'json' };
import recordedTables from './fixtures/tables.json' with { type: 'json' };
import columnData from './generated/columns.json' with { type: 'json' };
import { nameAndAge } from './name-and-age.ts';

interface RecordedTable {
  readonly key: string;
  readonly version: string;
  readonly definitions: readonly unknown[];
  readonly items: readonly KubeObject[];
  readonly cells: readonly (readonly TableCell[])[];
}

const now = Date.parse('2026-11-21T04:20:00Z');

/** Ages depend on when the table was asked for; the durations between two recorded times do not, but look the same. */
function withoutAges(cells: readonly TableCell[]): readonly TableCell[] {
  return cells.map((cell) =>
    typeof cell === 'string' ? cell.replace(/(?<![\w.-])(\d+[smhdy]){1,2}(?![\w.-])/g, 'AGE') : cell,
  );
}

function byName(rows: readonly (readonly TableCell[])[]): readonly string[] {
  return rows.map((row) => JSON.stringify(withoutAges(row))).sort();
}

function rowsOf(columns: TableColumns, items: readonly KubeObject[]): readonly (readonly TableCell[])[] {
  return items.map((item) => columns.cells(item, now));
}

describe('tables', () => {
  for (const table of recordedTables as unknown as RecordedTable[]) {
    it(`shows ${table.key} in ${table.version} as a kube-apiserver does`, () => {
      const slash = table.key.indexOf('/');
      const kind = { group: table.key.slice(0, Math.max(0, slash)), kind: table.key.slice(slash + 1) };
      const columns = builtinColumns({ ...kind, version: table.version });
      assert.deepEqual(columns.definitions, table.definitions);
      assert.deepEqual(byName(rowsOf(columns, table.items)), byName(table.cells));
    });
  }

  it('shows a custom resource by its columns', () => {
    const { crd, definitions, items, cells } = customTable as unknown as RecordedTable & {
      readonly crd: KubeObject;
    };
    const version = readDefinition(crd).versions[0];
    assert.ok(version);
    const columns = customColumns(version);
    assert.deepEqual(columns.definitions, definitions);
    assert.deepEqual(byName(rowsOf(columns, items)), byName(cells));
  });

  it('shows the age of a custom resource without columns', () => {
    assert.equal(customColumns({ columns: [] }), nameAndAge);
  });

  it('knows every built-in resource that can be listed', () => {
    const listed = builtinResources.filter(({ verbs }) => verbs.includes('list'));
    const missing = listed
      .map(({ group, kind }) => (group === '' ? kind : `${group}/${kind}`))
      .filter((key) => !Object.hasOwn(columnData, key));
    assert.deepEqual(missing, []);
  });

  it('bears objects without any field', () => {
    for (const resource of builtinResources) {
      const cells = builtinColumns(resource).cells({ metadata: {} }, now);
      assert.ok(cells.length >= 2);
    }
  });
});
