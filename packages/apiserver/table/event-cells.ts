import type { KubeObject } from '@sheaf/api';
import { type CellSource, nameOf, or, shaped } from './cell-source.ts';
import { ageOf } from './name-and-age.ts';

interface Source {
  readonly component?: string;
  readonly host?: string;
}

interface Target {
  readonly kind?: string;
  readonly name?: string;
  readonly fieldPath?: string;
}

interface Shared {
  readonly type?: string;
  readonly reason?: string;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null } | null;
}

interface CoreEvent extends Shared {
  readonly involvedObject?: Target;
  readonly message?: string;
  readonly source?: Source;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly count?: number;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

interface NewEvent extends Shared {
  readonly regarding?: Target;
  readonly note?: string;
  readonly deprecatedSource?: Source;
  readonly deprecatedFirstTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
}

export const coreEventCells: CellSource = (object, now) => cellsOf(object, shaped<CoreEvent>(object), now);

/** The kind of `events.k8s.io` says the same in other words. */
export const newEventCells: CellSource = (object, now) => {
  const event = shaped<NewEvent>(object);
  const core: CoreEvent = {
    ...event,
    ...given('involvedObject', event.regarding),
    ...given('message', event.note),
    ...given('source', event.deprecatedSource),
    ...given('firstTimestamp', event.deprecatedFirstTimestamp),
    ...given('lastTimestamp', event.deprecatedLastTimestamp),
    ...given('count', event.deprecatedCount),
    ...given('reportingComponent', event.reportingController),
  };
  return cellsOf(object, core, now);
};

function given<Key extends keyof CoreEvent>(key: Key, value: CoreEvent[Key]): Pick<CoreEvent, Key> | object {
  return value === undefined ? {} : { [key]: value };
}

function cellsOf(object: KubeObject, event: CoreEvent, now: number): ReturnType<CellSource> {
  const { series, involvedObject: target } = event;
  const first = ageOf(event.firstTimestamp || event.eventTime, now);
  const last = event.lastTimestamp ? ageOf(event.lastTimestamp, now) : first;
  const kind = or(target?.kind, '').toLowerCase();
  return [
    series ? ageOf(series.lastObservedTime, now) : last,
    or(event.type, ''),
    or(event.reason, ''),
    target?.name ? `${kind}/${target.name}` : kind,
    or(target?.fieldPath, ''),
    sourceCell(event),
    or(event.message, '').trim(),
    first,
    series ? or(series.count, 0) : event.count || 1,
    nameOf(object),
  ];
}

function sourceCell({ source, reportingComponent, reportingInstance }: CoreEvent): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance || '';
  return instance === '' ? component : `${component}, ${instance}`;
}
