import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataVolume } from '@sheaf/api/virtualization/index';
import { claimOf } from './claim-of-data-volume.ts';
import { planDataVolumeStatus } from './data-volume-status.ts';
import { type DataVolumeFacts, type DataVolumeStep, imageFinalizer, planDataVolume } from './plan.ts';
import { problemOf } from './source-plan.ts';

const now = '2026-01-01T00:00:00Z';
const nowMs = Date.parse(now);
const dataVolume: DataVolume = {
  metadata: { namespace: 'default', name: 'd', uid: 'u', finalizers: [imageFinalizer] },
  spec: { source: { http: { url: 'http://x/y' } }, storage: { resources: { requests: { storage: '1Gi' } } } },
};
const working = { id: 'u', progress: { state: 'working', percent: 42 }, receivedBytes: 1 } as const;
const failed = {
  ...working,
  progress: { state: 'failed', message: 'not there; look for it', nature: 'fault' },
} as const;
const done = {
  ...working,
  progress: { state: 'done' },
  image: { format: 'qcow2', virtualBytes: 2 ** 20, allocatedBytes: 1 },
} as const;
const claim = { ...claimOf(dataVolume, '1Gi'), status: { phase: 'Pending' } };
const boundClaim = { ...claim, status: { phase: 'Bound' } };

function factsOf(facts: Partial<DataVolumeFacts>): DataVolumeFacts {
  return {
    dataVolume,
    claim: undefined,
    image: undefined,
    sourceSize: undefined,
    isImageOwned: false,
    nowMs,
    ...facts,
  };
}

function wordOf(step: DataVolumeStep): string {
  return step.action === 'wait' ? step.waiting.reason : step.action;
}

describe('planDataVolume', () => {
  const going = { ...dataVolume, metadata: { ...dataVolume.metadata, deletionTimestamp: now } };
  const released = { ...going, metadata: { ...going.metadata, finalizers: ['foregroundDeletion'] } };
  const sizeless = { ...dataVolume, spec: { ...dataVolume.spec, storage: {} } };
  const told = planDataVolumeStatus(factsOf({ image: failed }), { waiting: undefined, now });
  const toldFailed = { ...dataVolume, status: told };
  const cases: readonly [string, Partial<DataVolumeFacts>, string][] = [
    [
      'a new one',
      { dataVolume: { ...dataVolume, metadata: { ...dataVolume.metadata, finalizers: [] } } },
      'update',
    ],
    ['nothing has been fetched', {}, 'request-image'],
    ['it is being fetched', { image: working }, 'create-claim'],
    ['its size is not known', { dataVolume: sizeless, image: working }, 'SizeUnknown'],
    ['its size has become known', { dataVolume: sizeless, image: done }, 'create-claim'],
    ['its claim is there', { image: working, claim }, 'none'],
    ['a claim of others', { image: working, claim: { ...claim, metadata: { name: 'd' } } }, 'ClaimExists'],
    ['it has just failed', { image: failed, claim }, 'none'],
    ['it has failed before', { dataVolume: toldFailed, image: failed, claim, nowMs: nowMs + 15_000 }, 'none'],
    [
      'it has failed long before',
      { dataVolume: toldFailed, image: failed, claim, nowMs: nowMs + 20_000 },
      'request-image',
    ],
    ['its claim is bound', { image: done, claim: boundClaim }, 'none'],
    ['deleted half way', { dataVolume: going, image: working }, 'remove-image'],
    ['deleted, its claim is in use', { dataVolume: released, claim: boundClaim }, 'ClaimRemaining'],
    ['deleted, nothing is left of it', { dataVolume: released }, 'none'],
    ['deleted, a volume has the image', { dataVolume: going, image: done, isImageOwned: true }, 'update'],
  ];
  for (const [name, facts, word] of cases)
    it(`${name}: ${word}`, () => assert.equal(wordOf(planDataVolume(factsOf(facts))), word));
});

describe('planDataVolumeStatus', () => {
  const shown = (facts: Partial<DataVolumeFacts>) => {
    const { phase, progress, restartCount, conditions } = planDataVolumeStatus(factsOf(facts), {
      waiting: undefined,
      now,
    });
    return [phase, progress, restartCount, conditions?.map(({ status }) => status).join(' ')];
  };
  it('goes through the phases of CDI', () => {
    assert.deepEqual(shown({}), ['ImportScheduled', 'N/A', 0, 'Unknown False False']);
    assert.deepEqual(shown({ image: working, claim }), ['ImportInProgress', '42.00%', 0, 'False True False']);
    assert.deepEqual(shown({ image: failed, claim }), ['ImportInProgress', '0.00%', 1, 'False False False']);
    assert.deepEqual(shown({ image: done, claim: boundClaim }), [
      'Succeeded',
      '100.0%',
      0,
      'True False True',
    ]);
  });
});

describe('the status of a data volume', () => {
  it('says what its deletion waits for, and not that it is ready', () => {
    const going = {
      ...dataVolume,
      metadata: { ...dataVolume.metadata, deletionTimestamp: now, finalizers: [] },
    };
    const facts = factsOf({ dataVolume: going, claim: boundClaim });
    const step = planDataVolume(facts);
    const waiting = step.action === 'wait' ? step.waiting : assert.fail('it waits');
    const ready = planDataVolumeStatus(facts, { waiting, now }).conditions?.find(
      ({ type }) => type === 'Ready',
    );
    assert.equal(ready?.status, 'False');
    assert.match(ready?.message ?? '', /stays as long as machines or Pods use it: stop what uses it/);
  });

  it('never takes a claim of others for its own', () => {
    const others = { ...boundClaim, metadata: { name: 'd' } };
    const facts = factsOf({ image: working, claim: others });
    assert.equal(planDataVolumeStatus(facts, { waiting: undefined, now }).phase, 'ImportInProgress');
  });
});

describe('a data volume that is uploaded', () => {
  const uploaded = { ...dataVolume, spec: { ...dataVolume.spec, source: { upload: {} } } };
  const sent = (image: Partial<NonNullable<DataVolumeFacts['image']>>) => {
    const facts = factsOf({
      dataVolume: uploaded,
      claim,
      image: { id: 'u', progress: { state: 'working', percent: 0 }, receivedBytes: 0, ...image },
    });
    const { phase, progress, conditions } = planDataVolumeStatus(facts, { waiting: undefined, now });
    return [phase, progress, conditions?.find(({ type }) => type === 'Ready')?.message];
  };

  it('tells how far the upload is, in the form of CDI', () => {
    const [phase, progress, message] = sent({});
    assert.deepEqual([phase, progress], ['UploadReady', 'N/A']);
    assert.match(message ?? '', /waits for its content to be uploaded; .*virtctl image-upload/);
    assert.deepEqual(sent({ totalBytes: 3000 }).slice(0, 2), ['UploadReady', '0.00%']);
    const third = sent({ receivedBytes: 1000, totalBytes: 3000 });
    assert.deepEqual(third.slice(0, 2), ['UploadReady', '33.33%']);
    assert.match(third[2] ?? '', /of which 1000 of 3000 bytes have come/);
    const whole = sent({ receivedBytes: 3000, totalBytes: 3000 });
    assert.deepEqual(whole.slice(0, 2), ['UploadReady', '100.00%']);
    assert.match(whole[2] ?? '', /is being looked at/);
    assert.equal(sent({ ...done, receivedBytes: 3000, totalBytes: 3000 })[1], '100.0%');
  });

  it('counts nothing of what was no good, and says what was wrong', () => {
    const [phase, progress, message] = sent({ ...failed, receivedBytes: 3000, totalBytes: 3000 });
    assert.deepEqual([phase, progress], ['UploadReady', 'N/A']);
    assert.match(message ?? '', /what came last is no good: not there/);
  });
});

describe('problemOf', () => {
  const spec = (more: Partial<DataVolume['spec']>): DataVolume => ({
    ...dataVolume,
    spec: { storage: {}, ...more },
  });
  const cases: readonly [DataVolume, string | undefined][] = [
    [dataVolume, undefined],
    [spec({ source: { blank: {}, upload: {} } }), 'spec.source'],
    [spec({}), 'spec.source'],
    [spec({ source: { registry: { url: 'docker://x' } } }), undefined],
    [spec({ source: { registry: { url: 'oci-archive:x' } } }), 'spec.source.registry.url'],
    [spec({ source: { registry: { imageStream: 'x' } } }), 'spec.source.registry.imageStream'],
    [spec({ source: { s3: { url: 'http://x' } } }), 'spec.source.s3'],
    [spec({ source: { upload: {} } }), 'spec.storage.resources.requests.storage'],
    [spec({ source: { http: { url: 'http://x', secretRef: 's' } } }), 'spec.source.http'],
    [spec({ source: { blank: {} }, contentType: 'archive' }), 'spec.contentType'],
    [spec({ sourceRef: { kind: 'DataSource', name: 'x' } }), 'spec.sourceRef'],
    [spec({ source: { blank: {} }, pvc: {} }), 'spec'],
  ];
  for (const [given, field] of cases)
    it(`${JSON.stringify(given.spec)}: ${field ?? 'fine'}`, () =>
      assert.equal(problemOf(given)?.field, field));
});
