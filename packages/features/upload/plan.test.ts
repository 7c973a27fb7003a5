import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { planUpload, type UploadFacts, uploadFinalizer, uploadOrder } from './plan.ts';

const target = { 'cdi.kubevirt.io/storage.upload.target': '' };
const claim: PersistentVolumeClaim = {
  metadata: { namespace: 'ns', name: 'c', uid: 'u', annotations: target, finalizers: [uploadFinalizer] },
  spec: { resources: { requests: { storage: '1Mi' } } },
  status: { phase: 'Pending' },
};
const bound: PersistentVolumeClaim = { ...claim, status: { phase: 'Bound' } };
const going: PersistentVolumeClaim = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: 't' } };
const ofDataVolume: PersistentVolumeClaim = {
  ...claim,
  metadata: {
    ...claim.metadata,
    finalizers: [],
    ownerReferences: [
      { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name: 'c', uid: 'd', controller: true },
    ],
  },
};
const coming = { id: 'u', progress: { state: 'working', percent: 0 }, receivedBytes: 5 } as const;
const bad = { ...coming, progress: { state: 'failed', message: 'it is no disk', nature: 'fault' } } as const;
const good = { ...coming, progress: { state: 'done' } } as const;

function planOf(facts: Partial<UploadFacts>) {
  return planUpload({ claim, image: undefined, isImageOwned: false, ...facts });
}

/** What clients are told, or the name of the step. */
function shown(facts: Partial<UploadFacts>): string {
  const step = planOf(facts);
  if (step.action !== 'update-claim') return step.action;
  const { annotations = {}, finalizers } = step.claim.metadata;
  const words = ['pod.phase', 'pod.ready', 'condition.running.message'];
  const told = words.map((word) => annotations[`cdi.kubevirt.io/storage.${word}`] ?? '-');
  return [...told, ...(finalizers ?? [])].join(' ').trim();
}

describe('planUpload', () => {
  const kept = uploadFinalizer;
  const waitingClaim: PersistentVolumeClaim = {
    ...claim,
    status: {
      phase: 'Pending',
      conditions: [
        {
          type: 'Bound',
          status: 'False',
          reason: 'WaitForFirstConsumer',
          lastTransitionTime: 't',
          message: '',
        },
      ],
    },
  };
  const cases: readonly [string, Partial<UploadFacts>, string][] = [
    [
      'a new claim is kept first',
      { claim: { ...claim, metadata: { ...claim.metadata, finalizers: [] } } },
      `- - - ${kept}`,
    ],
    ['it gets a place for its bytes', {}, 'request-image'],
    ['it is ready for them', { image: coming }, `Running true  ${kept}`],
    ['what was no good can be sent again', { image: bad }, `Running true it is no disk ${kept}`],
    ['what is good makes a volume', { image: good }, `Running false Its volume is being made ${kept}`],
    [
      'it waits for its consumer',
      { claim: waitingClaim, image: coming },
      `Pending false It waits for its first consumer ${kept}`,
    ],
    ['with its volume it is let go', { claim: bound, image: good }, '- - -'],
    [
      'and told',
      { claim: { ...bound, metadata: { ...bound.metadata, finalizers: [] } }, image: good },
      'Succeeded false Upload Complete',
    ],
    ['the image of a data volume is not asked for here', { claim: ofDataVolume }, 'Pending false'],
    ['deleted half way', { claim: going, image: coming }, 'let-go'],
    ['deleted when a volume has the image', { claim: going, image: good, isImageOwned: true }, '- - -'],
    ['not a target', { claim: { ...claim, metadata: { ...claim.metadata, annotations: {} } } }, 'none'],
  ];
  for (const [name, facts, expected] of cases)
    it(`${name}: ${expected}`, () => assert.equal(shown(facts), expected));

  it('says it once', () => {
    const step = planOf({ image: coming });
    assert.ok(step.action === 'update-claim');
    assert.deepEqual(planOf({ claim: step.claim, image: coming }), { action: 'none' });
  });

  it('bounds what may come by the size of the claim', () => {
    assert.deepEqual(uploadOrder(ofDataVolume, 7), {
      id: 'd',
      title: 'ns/c',
      origin: { kind: 'upload', totalBytes: 7 },
      maxBytes: Math.ceil(1024 ** 2 * 1.01) + 64 * 1024 ** 2,
      maxVirtualBytes: 1024 ** 2,
    });
  });
});
