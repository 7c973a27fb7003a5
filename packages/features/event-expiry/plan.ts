import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonValue } from '@sheaf/base';

/** How long an event is kept after it happened last, in milliseconds. */
export const lifeMs = 3600_000;

/** The events whose time is over. */
export function planExpired(events: readonly KubeObject[], nowMs: number): readonly KubeObject[] {
  return events.filter((event) => nowMs - lastHappened(event) > lifeMs);
}

/** Milliseconds since 1970. */
function lastHappened(event: KubeObject): number {
  const series = event['series'];
  return Math.max(
    timeOf(isJsonObject(series) ? series['lastObservedTime'] : undefined),
    timeOf(event['lastTimestamp'] as JsonValue | undefined),
    timeOf(event['eventTime'] as JsonValue | undefined),
    timeOf(event['firstTimestamp'] as JsonValue | undefined),
    timeOf(event.metadata.creationTimestamp),
  );
}

function timeOf(value: JsonValue | undefined): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}
