import type { JsonObject } from '@sheaf/base';
import { asJson, type KubeObject } from '../../meta/object.ts';
import type { KindConversion } from '../kind-rules.ts';

/** Fields of events.k8s.io events, and what core events call them. */
const names: readonly (readonly [newer: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

/** Fields that one of both shapes always writes. */
const emptyCore: JsonObject = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const emptyNewer: JsonObject = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

/** events.k8s.io events are kept as core ones: every field has its counterpart. */
export const eventConversion: KindConversion = {
  storage: { group: '', version: 'v1' },
  toStorage(event) {
    for (const [newer, core] of names) rename(event, newer, core);
    return finish(event, 'v1', emptyCore);
  },
  fromStorage(event) {
    for (const [newer, core] of names) rename(event, core, newer);
    for (const name of ['reportingController', 'reportingInstance']) if (!event[name]) delete event[name];
    return finish(event, 'events.k8s.io/v1', emptyNewer);
  },
};

function rename(event: KubeObject, from: string, to: string): void {
  const fields = asJson(event);
  const value = fields[from];
  if (value === undefined) return;
  delete fields[from];
  fields[to] = value;
}

function finish(event: KubeObject, apiVersion: string, empty: JsonObject): KubeObject {
  const fields = asJson(event);
  event.apiVersion = apiVersion;
  for (const name in empty)
    fields[name] ??= typeof empty[name] === 'object' && empty[name] ? {} : empty[name];
  return event;
}
