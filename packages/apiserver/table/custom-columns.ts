import { asJson, type KubeObject } from '@sheaf/api';
import {
  type Cell,
  type CompiledColumn,
  compileColumns,
  type DefinitionVersion,
} from '../custom-resource/index.ts';
import type { TableCell, TableColumn, TableColumns } from './columns.ts';
import { humanDuration } from './human-duration.ts';
import { nameAndAge } from './name-and-age.ts';

/** The table of one version of a custom resource: its own columns, or its age if it names none. */
export function customColumns({ columns }: Pick<DefinitionVersion, 'columns'>): TableColumns {
  if (columns.length === 0) return nameAndAge;
  const compiled = compileColumns(columns);
  return {
    definitions: [...nameAndAge.definitions.slice(0, 1), ...compiled.map((column) => definitionOf(column))],
    cells(object: KubeObject, now: number) {
      const json = asJson(object);
      const cells: TableCell[] = [object.metadata.name ?? ''];
      for (const column of compiled) cells.push(cellOf(column.cell(json), now));
      return cells;
    },
  };
}

function definitionOf({ column, description }: CompiledColumn): TableColumn {
  const { name, type, format, priority } = column;
  return { name, type: type as TableColumn['type'], format, description, priority };
}

function cellOf(cell: Cell, now: number): TableCell {
  if (typeof cell !== 'object' || cell === null) return cell;
  return cell.milliseconds === undefined ? '<invalid>' : humanDuration(now - cell.milliseconds);
}
