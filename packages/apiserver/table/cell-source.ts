import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { TableCell } from './columns.ts';
import { ageOf } from './name-and-age.ts';

/** Gives the cells of one object of a kind; `now` in milliseconds. */
export type CellSource = (object: KubeObject, now: number) => readonly TableCell[];

/** By kind, core group: `Pod`; others: `apps/Deployment`. */
export type CellSources = Readonly<Record<string, CellSource>>;

/**
 * A built-in object seen as the fields its table needs. The shape of such an object has been made to fit its schema when
 * it was decoded; absent and null fields are both possible.
 */
export function shaped<Shape>(object: KubeObject): Shape {
  return object as unknown as Shape;
}

export function nameOf(object: KubeObject): string {
  return object.metadata.name ?? '';
}

export function ageCell(object: KubeObject, now: number): string {
  return ageOf(object.metadata.creationTimestamp, now);
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export type Conditions = readonly Condition[] | null | undefined;

export function findCondition(conditions: Conditions, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: Conditions, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** The first few of a list and how many more there are. */
export function listWithMore(list: readonly string[], limit: number, empty: string): string {
  const text = list.slice(0, limit).join(',');
  if (list.length > limit) return `${text} + ${list.length - limit} more...`;
  return text === '' ? empty : text;
}

export function countOf(value: JsonObject | readonly unknown[] | null | undefined): number {
  if (value === null || value === undefined) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** A field's value, or what the table shows for an absent or null one. */
export function or<T>(value: T | null | undefined, absent: NoInfer<T>): T {
  return value ?? absent;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

interface Parts {
  readonly spec?: object;
  readonly status?: object;
}

/** Spec and status, empty where they are absent. */
export function partsOf<Shape extends Parts>(
  object: KubeObject,
): { readonly spec: NonNullable<Shape['spec']>; readonly status: NonNullable<Shape['status']> } {
  const { spec = {}, status = {} } = shaped<Shape>(object);
  return { spec, status };
}
