import type { JsonSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { declareType } from '../schema/declared-type.ts';
import type { Value } from '../values/value.ts';

const text: JsonSchema = { type: 'string' };
const time: JsonSchema = { type: 'string', format: 'date-time' };
const integer: JsonSchema = { type: 'integer' };
const texts: JsonSchema = { type: 'array', items: text };
const textMap: JsonSchema = { type: 'object', additionalProperties: text };

const condition: JsonSchema = {
  type: 'object',
  properties: { status: text, type: text, lastTransitionTime: time, message: text, reason: text },
};

const namespaceSchema: JsonSchema = {
  type: 'object',
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: text,
        generateName: text,
        namespace: text,
        labels: textMap,
        annotations: textMap,
        UID: text,
        creationTimestamp: time,
        deletionGracePeriodSeconds: integer,
        deletionTimestamp: time,
        generation: integer,
        resourceVersion: text,
        finalizers: texts,
      },
    },
    spec: { type: 'object', properties: { finalizers: texts } },
    status: { type: 'object', properties: { phase: text, conditions: { type: 'array', items: condition } } },
  },
};

const declared = declareType(namespaceSchema, false);

/** A namespace as the value of `namespaceObject`. */
export function adaptNamespace(namespace: JsonObject): Value {
  return declared ? declared.adapt(namespace) : null;
}
