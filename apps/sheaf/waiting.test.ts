import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { findWaiting } from './waiting.ts';

function withCondition(kind: string, type: string, rest: object): KubeObject {
  return { kind, metadata: { name: 'a' }, status: { conditions: [{ type, ...rest }] } };
}

describe('findWaiting', () => {
  it('settings tell what is refused, and what has no effect', () => {
    const setting = (status: string, reason: string) =>
      findWaiting(withCondition('Setting', 'configured', { status, reason, message: 'because' }));
    assert.deepEqual(
      [setting('False', 'Refused')?.text, setting('False', 'KeptForCompatibility')?.text],
      ['is not in force: because', 'has no effect: because'],
    );
    assert.deepEqual([setting('True', ''), setting('False', '')], [undefined, undefined]);
    assert.equal(findWaiting({ kind: 'Setting', metadata: {} }), undefined);
  });

  it('pods tell why they have no node, and what their containers wait for', () => {
    const pod = (nodeName: string, status: object): string | undefined =>
      findWaiting({
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { nodeName },
        status: { phase: 'Pending', ...status },
      })?.text;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      message: '0/1 nodes are available: no podman',
    };
    const waiting = { reason: 'ErrImageNeverPull', message: 'there is no image' };
    assert.deepEqual(
      [
        pod('', {}),
        pod('', { conditions: [condition] }),
        pod('n', { containerStatuses: [{ name: 'c', state: { waiting } }] }),
        pod('n', {}),
      ],
      [
        'is not on a node yet',
        'is not on a node yet: 0/1 nodes are available: no podman',
        'its container c waits: ErrImageNeverPull: there is no image',
        'has been given to the node n and has not started',
      ],
    );
  });

  it('a node tells that it cannot run containers, unless nobody wants them', () => {
    const node = (reason: string): string | undefined =>
      findWaiting({
        kind: 'Node',
        metadata: { name: 'n' },
        status: { conditions: [{ type: 'ContainersRunnable', status: 'False', reason, message: 'why' }] },
      })?.text;
    assert.equal(node('ContainersUnavailable'), 'ContainersRunnable is False: why');
    assert.equal(node('ContainersUnwanted'), undefined);
  });

  it('claims tell why they have no volume, or not the size that is asked for', () => {
    const claim = (phase: string, type: string, status: string) =>
      findWaiting({
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        status: {
          phase,
          conditions: [
            { type, status, reason: 'InsufficientSpace', message: 'no room; needs someone: remove volumes' },
          ],
        },
      });
    const wanted = { reason: 'InsufficientSpace', nature: 'fault', wayOut: 'remove volumes' };
    assert.deepEqual(claim('Pending', 'Bound', 'False'), {
      ...wanted,
      text: 'is not bound to a volume: no room',
    });
    assert.deepEqual(claim('Bound', 'Resizing', 'True'), { ...wanted, text: 'is being expanded: no room' });
    assert.equal(claim('Bound', 'Other', 'True'), undefined);
  });

  it('storage tells of space that belongs to nobody', () => {
    const driver = (annotations: Record<string, string>) =>
      findWaiting({ kind: 'CSIDriver', metadata: { name: 'a', annotations } });
    assert.match(
      driver({ 'sheaf.dev/unowned-space': '{"bytes":1}' })?.text ?? '',
      /no object: \{"bytes":1\}/,
    );
    assert.equal(driver({}), undefined);
  });

  it('key pairs tell what is wrong with their key', () => {
    const wrong = withCondition('KeyPair', 'validated', { status: 'False', message: 'no key' });
    const { nature, text, wayOut } = findWaiting(wrong) ?? {};
    assert.deepEqual([nature, text, wayOut], ['fault', 'no key', 'Correct spec.publicKey.']);
    assert.equal(findWaiting(withCondition('KeyPair', 'validated', { status: 'True' })), undefined);
  });

  it('versions of templates wait for their images', () => {
    const rest = { status: 'False', reason: 'ImageNotImported', message: 'images' };
    const version = withCondition('VirtualMachineTemplateVersion', 'ready', rest);
    assert.deepEqual(findWaiting(version), {
      reason: 'ImageNotImported',
      nature: 'transient',
      text: 'images',
    });
  });
});
