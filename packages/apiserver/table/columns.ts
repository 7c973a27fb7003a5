import type { KubeObject } from '@sheaf/api';

/** One column of `kubectl get` (`meta.k8s.io/v1 TableColumnDefinition`). */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` for the first column. */
  readonly format: string;
  readonly description: string;
  /** 0: always shown; above: only with `-o wide`. */
  readonly priority: number;
}

export type TableCell = string | number | boolean | null;

export interface TableColumns {
  readonly definitions: readonly TableColumn[];
  /** One cell for each definition. `now` in milliseconds, for ages. */
  cells(object: KubeObject, now: number): readonly TableCell[];
}
