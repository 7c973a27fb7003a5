import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import type { ImageObservation, Progress } from '@sheaf/ports';
import { mirrorsAnnotation, orderAnnotation, retryAnnotation } from './image-names.ts';
import { orderDigest, orderOf, sourceOf } from './image-source.ts';
import { imageAfter } from './image-status.ts';
import { type ImageFacts, type ImageStep, planImage } from './plan.ts';
import type { ImageSource } from './source-objects.ts';

const failedAt = '2026-01-01T00:00:00Z';
const failedMs = Date.parse(failedAt);
const source: ImageSource = { state: 'ready', origin: { kind: 'download', urls: ['http://a/b'] } };
const missing: ImageSource = {
  state: 'waiting',
  waiting: { reason: 'VolumeNotFound', text: 'it is not there', nature: 'transient' },
};
const working: Progress = { state: 'working', percent: 40 };
const transient: Progress = { state: 'failed', message: 'it broke', nature: 'transient' };
const fault: Progress = { state: 'failed', message: 'it is no disk', nature: 'fault' };

function image(
  imported?: readonly [status: string, reason: string],
  { failed = 0, annotations = {} }: { failed?: number; annotations?: Record<string, string> } = {},
): VirtualMachineImage {
  const [status, reason] = imported ?? [];
  return {
    metadata: { namespace: 'ns', name: 'i', uid: 'u', annotations },
    spec: { displayName: 'i', sourceType: 'download', url: 'http://a/b', retry: 3 },
    status: {
      failed,
      lastFailedTime: failedAt,
      conditions: status === undefined ? [] : [{ type: 'Imported', status, reason: reason ?? '' }],
    },
  };
}

function facts(parts: Partial<ImageFacts> & { progress?: Progress }): ImageFacts {
  const { progress } = parts;
  const observation: ImageObservation | undefined = progress && { id: 'u', progress, receivedBytes: 0 };
  return {
    image: image(),
    source,
    observation,
    upload: { isActive: false },
    maxBytes: 100,
    nowMs: failedMs + 10_000,
    ...parts,
  };
}

const pending = image(['Unknown', 'RetryPending'], { failed: 1 });
const ended = image(['False', 'ImportFailed'], { failed: 4 });
const wanted = { [retryAnnotation]: 'x' };

describe('the next step of an image', () => {
  const cases: readonly (readonly [what: string, facts: ImageFacts, action: ImageStep['action']])[] = [
    ['nothing was ordered', facts({}), 'request'],
    ['its source is not there', facts({ source: missing }), 'wait'],
    ['it is coming', facts({ progress: working }), 'none'],
    ['it is coming and its source has gone', facts({ progress: working, source: missing }), 'none'],
    ['it is there', facts({ image: image(['True', 'Imported']), progress: { state: 'done' } }), 'none'],
    [
      'a failure is not counted yet',
      facts({ image: image(['Unknown', 'Importing']), progress: transient }),
      'none',
    ],
    ['ten seconds after a failure', facts({ image: pending, progress: transient }), 'request'],
    ['sooner', facts({ image: pending, progress: transient, nowMs: failedMs + 9999 }), 'none'],
    ['a fault', facts({ image: image(['False', 'ImportFailed'], { failed: 1 }), progress: fault }), 'none'],
    ['too many failures', facts({ image: ended, progress: transient }), 'none'],
    [
      'more of them are allowed now',
      facts({ image: { ...ended, spec: { ...ended.spec, retry: 4 } }, progress: transient, nowMs: failedMs }),
      'request',
    ],
    [
      'somebody wants it after a fault',
      facts({ image: image(['False', 'ImportFailed'], { annotations: wanted }), progress: fault }),
      'restart',
    ],
    [
      'somebody wants it while it is coming',
      facts({ image: image(['Unknown', 'Importing'], { annotations: wanted }), progress: working }),
      'none',
    ],
    [
      'something else is wanted than was ordered',
      facts({ image: image(undefined, { annotations: { [orderAnnotation]: 'other' } }), progress: working }),
      'restart',
    ],
    ['its content is lost', facts({ image: image(['True', 'Imported']) }), 'none'],
    [
      'its content is lost and wanted again',
      facts({ image: image(['True', 'Imported'], { annotations: wanted }) }),
      'restart',
    ],
    [
      'all of an upload has come, and its sender has gone',
      facts({
        image: { ...image(), spec: { displayName: 'i', sourceType: 'upload' }, status: { size: 7 } },
        source: { state: 'ready', origin: { kind: 'upload' } },
        observation: { id: 'u', progress: working, receivedBytes: 7 },
      }),
      'finish',
    ],
    [
      'somebody is sending it',
      facts({
        image: image(undefined, { annotations: { [orderAnnotation]: 'other' } }),
        progress: working,
        upload: { isActive: true },
      }),
      'none',
    ],
  ];
  for (const [what, given, action] of cases)
    it(`${what}: ${action}`, () => assert.equal(planImage(given).action, action));

  it('trusts the authorities of the setting, and asks all addresses', () => {
    const given = image(undefined, { annotations: { [mirrorsAnnotation]: 'http://c/d, http://e/f' } });
    assert.deepEqual(sourceOf(given, { additionalAuthorities: 'PEM' }), {
      state: 'ready',
      origin: {
        kind: 'download',
        urls: ['http://a/b', 'http://c/d', 'http://e/f'],
        additionalAuthorities: 'PEM',
      },
    });
  });

  it('is the same order for the same content only', () => {
    const digest = (change: Partial<VirtualMachineImage['spec']>): string => {
      const { spec, ...rest } = image();
      return orderDigest(orderOf({ ...rest, spec: { ...spec, ...change } }, { kind: 'upload' }, 1));
    };
    assert.equal(digest({ retry: 9, checksum: 'AB' }), digest({ checksum: 'ab' }));
    assert.notEqual(digest({ checksum: 'ab' }), digest({}));
  });
});

describe('the status of an image', () => {
  const after = (given: ImageFacts, observed = given.observation): VirtualMachineImage => {
    const outcome = { step: planImage(given), observation: observed, upload: given.upload, now: failedAt };
    return imageAfter(given.image, outcome);
  };

  it('counts each failure once', () => {
    const first = after(facts({ image: image(['Unknown', 'Importing']), progress: transient }));
    assert.equal(first.status?.failed, 1);
    const again = facts({ image: first, progress: transient, nowMs: failedMs + 1 });
    assert.equal(after(again), first);
  });

  it('is the very same when nothing has changed', () => {
    const given = facts({ progress: working });
    const begun = after({ ...given, observation: undefined }, given.observation);
    assert.equal(after({ ...given, image: begun }), begun);
    assert.equal(begun.status?.progress, 40);
  });

  it('does not take a failure of before for one of the attempt that begins', () => {
    const given = facts({ image: pending, progress: transient });
    const begun = after(given, { id: 'u', progress: working, receivedBytes: 0 });
    assert.deepEqual(
      [begun.status?.failed, begun.status?.conditions?.find(({ type }) => type === 'Imported')?.reason],
      [1, 'Importing'],
    );
  });
});
