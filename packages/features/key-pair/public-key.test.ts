import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planKeyPair } from './plan.ts';
import { PublicKeyProblem, readPublicKey, rsaLine } from './public-key.ts';
import { publicKeys } from './public-keys.fixture.ts';

const [rsa, ed25519] = publicKeys.map(({ line }) => line);
const now = '2026-01-01T00:00:00Z';
const words = (ed25519 ?? '').split(' ');

function keyWith(type: string, ...parts: readonly Uint8Array[]): string {
  const items = [Buffer.from(type), ...parts].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `${type} ${Buffer.concat(items).toString('base64')}`;
}

describe('public keys', () => {
  for (const { line, fingerPrint } of publicKeys)
    it(`${line.split(' ')[0]} has the fingerprint that OpenSSH shows`, () => {
      assert.deepEqual(readPublicKey(line), { type: line.split(' ')[0], fingerPrint });
    });

  it('may stand after comments and options, and end in any comment', () => {
    const { fingerPrint } = readPublicKey(ed25519 ?? '');
    const bare = words.slice(0, 2).join(' ');
    for (const text of [
      `# mine\n\n${bare}\n`,
      `${bare} a comment of words`,
      `no-pty,command="echo \\"a b\\"",from="10.0.0.0/8" ${bare}\r\n`,
      `  ${bare}\nsomething else`,
    ])
      assert.equal(readPublicKey(text).fingerPrint, fingerPrint);
  });

  const wrong: readonly (readonly [text: string, problem: RegExp])[] = [
    ['', /missing/],
    ['# only a comment', /missing/],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\n…', /private key/],
    ['hello', /no public key/],
    ['ssh-ed25519', /not whole/],
    ['ssh-ed25519 AAAA me', /damaged/],
    [`ssh-ed25519 ${words[1]?.slice(0, -4)}`, /damaged/],
    [`ssh-ed25519 ${words[1]?.slice(0, -1)}!`, /no base64/],
    [`ssh-rsa ${words[1]}`, /another type/],
    [`ssh-ed25519-cert-v01@openssh.com ${words[1]}`, /certificate/],
    [`ssh-dss ${words[1]}`, /DSA/],
    [keyWith('ssh-ed25519', Buffer.alloc(31)), /damaged/],
    [keyWith('ssh-ed25519', Buffer.alloc(32), Buffer.alloc(1)), /damaged/],
    [keyWith('ssh-rsa', Buffer.from([1]), Buffer.alloc(256, 1)), /exponent/],
    [keyWith('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(64, 1)), /fewer than 1024 bits/],
    [keyWith('ssh-rsa', Buffer.from([200]), Buffer.alloc(256, 1)), /damaged/],
    [keyWith('ecdsa-sha2-nistp256', Buffer.from('nistp384'), Buffer.alloc(65, 4)), /damaged/],
    [keyWith('ecdsa-sha2-nistp256', Buffer.from('nistp256'), Buffer.alloc(65, 2)), /damaged/],
    [keyWith('sk-ssh-ed25519@openssh.com', Buffer.alloc(32)), /damaged/],
  ];
  for (const [text, problem] of wrong)
    it(`cannot be ${JSON.stringify(text.slice(0, 60))}`, () => {
      assert.throws(
        () => readPublicKey(text),
        (error) => {
          assert.ok(error instanceof PublicKeyProblem && error.wayOut !== '', String(error));
          assert.match(error.message, problem);
          return true;
        },
      );
    });

  it('of new keys are written as OpenSSH does', () => {
    const [, encoded = ''] = (rsa ?? '').split(' ');
    const blob = Buffer.from(encoded, 'base64');
    // type: 4 + 7, exponent: 4 + 3, modulus: 4 + 1 + 256
    const e = blob.subarray(15, 18).toString('base64url');
    const n = blob.subarray(23).toString('base64url');
    assert.equal(rsaLine({ n, e }), `ssh-rsa ${encoded}\n`);
  });
});

describe('planKeyPair', () => {
  const pair = { metadata: { name: 'a' }, spec: { publicKey: ed25519 ?? '' } };

  it('adds fingerprint and condition once, and follows the key', () => {
    const first = planKeyPair(pair, now);
    assert.deepEqual(first.status, {
      fingerPrint: publicKeys[1]?.fingerPrint,
      conditions: [{ type: 'validated', status: 'True', reason: '', message: '', lastUpdateTime: now }],
    });
    assert.equal(planKeyPair(first, 'later'), first);
    const second = planKeyPair({ ...first, spec: { publicKey: rsa ?? '' } }, 'later');
    assert.equal(second.status?.fingerPrint, publicKeys[0]?.fingerPrint);
  });

  it('tells what is wrong with a key that is none', () => {
    const { status } = planKeyPair({ ...pair, spec: { publicKey: 'hello' } }, now);
    const [condition] = status?.conditions ?? [];
    assert.deepEqual([status?.fingerPrint, condition?.status, condition?.reason], ['', 'False', 'Error']);
    assert.match(condition?.message ?? '', /no public key.*; Paste the whole line/);
  });
});
