import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom, TestClock } from '@sheaf/testkit';
import { UploadTokens } from './upload-tokens.ts';

const target = { namespace: 'ns', name: 'c', uid: 'u' };

describe('upload tokens', () => {
  it('are known for five minutes', () => {
    const clock = new TestClock();
    const tokens = new UploadTokens({ clock, random: new SeededRandom(1) });
    const token = tokens.issue(target);
    assert.deepEqual(tokens.targetOf(token), target);
    clock.advance(299_000);
    assert.deepEqual(tokens.targetOf(token), target);
    clock.advance(2000);
    assert.equal(tokens.targetOf(token), undefined);
  });

  it('are worth nothing when they were changed, or given out by someone else', () => {
    const clock = new TestClock();
    const tokens = new UploadTokens({ clock, random: new SeededRandom(1) });
    const [header = '', claims = '', signature = ''] = tokens.issue(target).split('.');
    const other = new UploadTokens({ clock, random: new SeededRandom(2) }).issue(target);
    const more = Buffer.from(JSON.stringify({ ...target, aud: 'upload.cdi.kubevirt.io', exp: 9e9 }));
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const forged = [
      other,
      `${header}.${more.toString('base64url')}.${signature}`,
      `${none}.${claims}.`,
      `${header}.${claims}`,
      `${header}.${claims}.`,
      '',
      '.',
    ];
    for (const token of forged) assert.equal(tokens.targetOf(token), undefined, token);
  });
});
