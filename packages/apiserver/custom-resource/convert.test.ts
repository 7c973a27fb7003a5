import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { convertByName, convertByWebhook, type WebhookConverter } from './convert.ts';

function widget(name: string, version = 'v1'): KubeObject {
  return {
    apiVersion: `example.com/${version}`,
    kind: 'Widget',
    metadata: { name, uid: `uid-${name}`, labels: { a: 'b' }, generation: 3 },
    spec: { size: 1 },
  };
}

const signal = new AbortController().signal;

function answering(change: (objects: JsonObject[], review: JsonObject) => JsonObject): {
  readonly webhook: WebhookConverter;
  readonly reviews: JsonObject[];
} {
  const reviews: JsonObject[] = [];
  const webhook: WebhookConverter = {
    reviewVersions: ['v2', 'v1'],
    uid: () => 'u1',
    call(review) {
      reviews.push(review);
      const { request } = review;
      const objects = isJsonObject(request) ? (request['objects'] as JsonObject[]) : [];
      return Promise.resolve(change(structuredClone(objects), review));
    },
  };
  return { webhook, reviews };
}

function success(convertedObjects: JsonObject[]): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid: 'u1', result: { status: 'Success' }, convertedObjects },
  };
}

function toV2(objects: JsonObject[]): JsonObject[] {
  return objects.map((object) => ({ ...object, apiVersion: 'example.com/v2', spec: { length: 1 } }));
}

test('strategy None only rewrites the version', () => {
  const object = widget('a');
  assert.deepEqual(convertByName(object, 'example.com/v2'), { ...object, apiVersion: 'example.com/v2' });
  assert.equal(convertByName(object, 'example.com/v1'), object);
});

test('objects of another version are converted; metadata comes back but for labels and annotations', async () => {
  const { webhook, reviews } = answering((objects) =>
    success(
      toV2(objects).map((object) => ({
        ...object,
        metadata: { ...(object['metadata'] as JsonObject), labels: { c: 'd' }, generation: 99 },
      })),
    ),
  );
  const results = await convertByWebhook([widget('a'), widget('b', 'v2')], 'example.com/v2', {
    webhook,
    signal,
  });
  assert.deepEqual(results, [
    {
      apiVersion: 'example.com/v2',
      kind: 'Widget',
      metadata: { name: 'a', uid: 'uid-a', labels: { c: 'd' }, generation: 3 },
      spec: { length: 1 },
    },
    widget('b', 'v2'),
  ]);
  assert.deepEqual(reviews, [
    {
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      request: { uid: 'u1', desiredAPIVersion: 'example.com/v2', objects: [widget('a')] },
    },
  ]);
});

test('large lists go in batches, nothing goes where nothing is to be converted', async () => {
  const { webhook, reviews } = answering((objects) => success(toV2(objects)));
  const many = Array.from({ length: 1200 }, (_item, index) => widget(`w${index}`));
  assert.equal((await convertByWebhook(many, 'example.com/v2', { webhook, signal })).length, 1200);
  assert.equal(reviews.length, 3);
  await convertByWebhook([widget('a', 'v2')], 'example.com/v2', { webhook, signal });
  assert.equal(reviews.length, 3);
});

const subject = 'conversion webhook for example.com/v1, Kind=Widget';
const faults: readonly (readonly [string, (objects: JsonObject[]) => JsonObject, string])[] = [
  [
    'no response',
    () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
    `${subject} failed: no response provided`,
  ],
  [
    'another kind',
    () => ({}),
    `${subject} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got , Kind=`,
  ],
  [
    'another uid',
    (objects) => ({ ...success(objects), response: { uid: 'x' } }),
    `${subject} failed: expected response.uid="u1", got "x"`,
  ],
  [
    'a failure',
    () => ({ ...success([]), response: { uid: 'u1', result: { status: 'Failure', message: 'too bad' } } }),
    `${subject} failed: too bad`,
  ],
  [
    'a failure without words',
    () => ({ ...success([]), response: { uid: 'u1', result: {} } }),
    `${subject} failed: response.result.status was '', not 'Success'`,
  ],
  ['too few objects', () => success([]), `${subject} returned 0 objects, expected 1`],
  [
    'the wrong version',
    (objects) => success(objects),
    `${subject} returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
  ],
  [
    'another kind of object',
    (objects) => success(toV2(objects).map((object) => ({ ...object, kind: 'Gadget' }))),
    `${subject} returned invalid converted object at index 0: invalid kind (expected Widget, received Gadget)`,
  ],
  [
    'another name',
    (objects) =>
      success(toV2(objects).map((object) => ({ ...object, metadata: { name: 'z', uid: 'uid-a' } }))),
    `${subject} returned invalid converted object at index 0: must have the same name: a != z`,
  ],
  [
    'bad labels',
    (objects) =>
      success(
        toV2(objects).map((object) => ({
          ...object,
          metadata: { name: 'a', uid: 'uid-a', labels: { a: 1 } },
        })),
      ),
    `${subject} returned invalid metadata in object at index 0: metadata.labels[a] must be a string, but is int64 in converted object`,
  ],
];

for (const [name, change, message] of faults) {
  test(`an answer with ${name} is refused`, async () => {
    const { webhook } = answering(change);
    await assert.rejects(
      convertByWebhook([widget('a')], 'example.com/v2', { webhook, signal }),
      (error) => StatusError.is(error) && error.code === 500 && error.message === message,
    );
  });
}

test('a webhook that cannot be reached', async () => {
  const webhook: WebhookConverter = {
    reviewVersions: ['v1'],
    uid: () => 'u1',
    call: () => Promise.reject(new Error('connection refused')),
  };
  await assert.rejects(convertByWebhook([widget('a')], 'example.com/v2', { webhook, signal }), {
    message: `${subject} failed: connection refused`,
  });
});
