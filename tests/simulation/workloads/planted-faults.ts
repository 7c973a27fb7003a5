import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { ClientRequest } from '@sheaf/client';
import type { Containers } from '@sheaf/ports';
import type { RequestTamper } from '@sheaf/testkit';

/** Faults that a test puts in, to see that they are found. */
export const plantedFaults = [
  /** Replica sets of deployments get more pods than they are to have. */
  'overscales',
  /** The second pod of a stateful set is made before the first. */
  'skipsOrdinal',
  /** Both daemons are meant for one node. */
  'mistakesNode',
  /** Pods of jobs are made without what keeps them until they are counted. */
  'forgetsFinalizer',
  /** Jobs of a CronJob are not named by their time. */
  'namesAnew',
  /** Pods are deleted without the time that their containers need. */
  'hastens',
  /** A container that is to end goes on. */
  'losesEnds',
] as const;

export type PlantedFault = (typeof plantedFaults)[number];

type Change = (object: JsonObject) => JsonObject;

/** What becomes of the controllers' requests; `undefined`: nothing. */
export function tamperOf(planted: ReadonlySet<PlantedFault>): RequestTamper | undefined {
  const [fault] = planted;
  switch (fault) {
    case 'overscales':
      return onRequest('POST PUT', /\/replicasets(\/[^/]+)?$/, overscaled);
    case 'skipsOrdinal':
      return onRequest('POST', /\/pods$/, withNextOrdinal);
    case 'mistakesNode':
      return onRequest('POST', /\/pods$/, forNodeOne);
    case 'forgetsFinalizer':
      return onRequest('POST', /\/pods$/, (pod) => withMetadata(pod, { finalizers: [] }));
    case 'namesAnew': {
      let count = 0;
      return onRequest('POST', /\/jobs$/, (job) => withMetadata(job, { name: `tick-${++count}` }));
    }
    case 'hastens':
      return onRequest('DELETE', /\/pods\/[^/]+$/, (options) => ({ ...options, gracePeriodSeconds: 0 }));
    case 'losesEnds':
    case undefined:
      return undefined;
    default:
      return fault satisfies never;
  }
}

/** Drivers of containers as someone would write them who makes this fault. */
export function withFaults(containers: Containers, planted: ReadonlySet<PlantedFault>): Containers {
  if (!planted.has('losesEnds')) return containers;
  return new Proxy(containers, {
    get(target, property): unknown {
      if (property === 'stopContainer') return () => Promise.resolve();
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => Reflect.apply(method, target, args) as unknown;
    },
  });
}

function onRequest(methods: string, target: RegExp, change: Change): RequestTamper {
  return (request: ClientRequest) => {
    const [path = ''] = request.target.split('?');
    if (!methods.split(' ').includes(request.method) || !target.test(path)) return request;
    const { body, value } = request;
    if (value !== undefined) return { ...request, value: isJsonObject(value) ? change(value) : value };
    return { ...request, body: JSON.stringify(change(JSON.parse(body || '{}') as JsonObject)) };
  };
}

function overscaled(set: JsonObject): JsonObject {
  const { replicas } = objectIn(set, 'spec');
  if (typeof replicas !== 'number' || replicas === 0) return set;
  return { ...set, spec: { ...objectIn(set, 'spec'), replicas: replicas + 3 } };
}

function withNextOrdinal(pod: JsonObject): JsonObject {
  const { name } = objectIn(pod, 'metadata');
  return typeof name === 'string' && name.endsWith('-0')
    ? withMetadata(pod, { name: name.replace(/0$/, '1') })
    : pod;
}

function forNodeOne(pod: JsonObject): JsonObject {
  const { affinity } = objectIn(pod, 'spec');
  if (affinity === undefined) return pod;
  const changed = JSON.parse(JSON.stringify(affinity).replace('"two"', '"one"')) as JsonValue;
  return { ...pod, spec: { ...objectIn(pod, 'spec'), affinity: changed } };
}

function withMetadata(object: JsonObject, fields: JsonObject): JsonObject {
  return { ...object, metadata: { ...objectIn(object, 'metadata'), ...fields } };
}

function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}
