import type { TableColumn, TableColumns } from './columns.ts';
import columnData from './generated/columns.json' with { type: 'json' };
import { humanDuration } from './human-duration.ts';

const [name, age] = columnData.ServiceAccount as unknown as readonly [TableColumn, TableColumn];

/** The columns of custom resources that have none of their own. */
export const nameAndAge: TableColumns = {
  definitions: [name, { ...age, type: 'date' }],
  cells(object, now) {
    return [object.metadata.name ?? '', ageOf(object.metadata.creationTimestamp, now)];
  },
};

/** `5m`, `3d4h`; `<unknown>` without a time. */
export function ageOf(time: string | null | undefined, now: number): string {
  const created = time ? Date.parse(time) : Number.NaN;
  return Number.isNaN(created) ? '<unknown>' : humanDuration(now - created);
}
