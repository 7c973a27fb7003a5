import type { EventData } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** One line of the report that the runner of the stages reads. */
export type ReportLine =
  | { readonly type: 'failed'; readonly name: string; readonly place: string; readonly error: string }
  | { readonly type: 'skipped'; readonly name: string; readonly place: string; readonly reason: string }
  | { readonly type: 'summary'; readonly passed: number; readonly failed: number; readonly skipped: number };

/** A reporter for node:test that writes what the runner needs, one JSON object per line. */
// oxlint-disable-next-line import/no-default-export -- node:test loads a reporter by its default export
export default async function* reportLines(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const line = lineOf(event);
    if (line !== undefined) yield `${JSON.stringify(line)}\n`;
  }
}

function lineOf(event: TestEvent): ReportLine | undefined {
  switch (event.type) {
    case 'test:fail':
      return failedLine(event.data);
    case 'test:pass':
      return skippedLine(event.data);
    case 'test:summary':
      return event.data.file === undefined ? summaryLine(event.data.counts) : undefined;
    default:
      return undefined;
  }
}

function failedLine(data: EventData.TestFail): ReportLine | undefined {
  const error = data.details.error as Error & { failureType?: string };
  // A test whose subtests failed says no more than they do.
  if (error.failureType === 'subtestsFailed') return undefined;
  return { type: 'failed', name: data.name, place: placeOf(data), error: inspect(error.cause ?? error) };
}

function skippedLine(data: EventData.TestPass): ReportLine | undefined {
  if (data.skip === undefined || data.skip === false) return undefined;
  const reason = typeof data.skip === 'string' && data.skip !== '' ? data.skip : 'no reason given';
  return { type: 'skipped', name: data.name, place: placeOf(data), reason };
}

function summaryLine(counts: EventData.TestSummary['counts']): ReportLine {
  const { tests, passed, skipped, todo } = counts;
  return { type: 'summary', passed, failed: tests - passed - skipped - todo, skipped };
}

function placeOf(data: EventData.LocationInfo): string {
  return `${data.file ?? '?'}:${data.line ?? 0}`;
}
