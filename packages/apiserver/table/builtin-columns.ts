import type { GroupVersionKind } from '@sheaf/api';
import { accessCells } from './access-cells.ts';
import { admissionCells } from './admission-cells.ts';
import { autoscalerCells, firstAutoscalerCells } from './autoscaler-cells.ts';
import { type CellSource, type CellSources, nameOf } from './cell-source.ts';
import { clusterCells } from './cluster-cells.ts';
import type { TableColumn, TableColumns } from './columns.ts';
import { deviceCells } from './device-cells.ts';
import { coreEventCells, newEventCells } from './event-cells.ts';
import columnData from './generated/columns.json' with { type: 'json' };
import { networkCells } from './network-cells.ts';
import { podCells } from './pod-cells.ts';
import { storageCells } from './storage-cells.ts';
import { workloadCells } from './workload-cells.ts';

const sources: CellSources = {
  Pod: podCells,
  Event: coreEventCells,
  'events.k8s.io/Event': newEventCells,
  'autoscaling/HorizontalPodAutoscaler': autoscalerCells,
  ...accessCells,
  ...admissionCells,
  ...clusterCells,
  ...deviceCells,
  ...networkCells,
  ...storageCells,
  ...workloadCells,
};

const definitions = columnData as unknown as Readonly<Record<string, readonly TableColumn[]>>;

/** The definitions of kinds that have no table of their own. */
const plainDefinitions: readonly TableColumn[] = definitions['rbac.authorization.k8s.io/Role'] ?? [];

const plainCells: CellSource = (object) => [nameOf(object), object.metadata.creationTimestamp ?? null];

/** The table of a built-in kind, as kubectl users know it. */
export function builtinColumns({ group, version, kind }: GroupVersionKind): TableColumns {
  const key = group === '' ? kind : `${group}/${kind}`;
  const isFirstAutoscaler = key === 'autoscaling/HorizontalPodAutoscaler' && version === 'v1';
  const cells = isFirstAutoscaler ? firstAutoscalerCells : (sources[key] ?? plainCells);
  return { definitions: definitions[key] ?? plainDefinitions, cells };
}
