import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { FixtureViews } from '../authorization/live-views.fixture.ts';
import { newPrivateKeyPem } from '../certificates/key-pair.ts';
import { jsonWebKeySet, openidConfiguration } from './discovery-documents.ts';
import { HandClock, seededRandom } from './hand-clock.fixture.ts';
import { parseJwt, signJwt, textOf } from './jwt.ts';
import { legacyClaims } from './service-account-claims.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { SigningKeys } from './signing-keys.ts';
import { issueToken, type TokenIssuerOptions } from './token-request.ts';
import { reviewSelf, reviewToken } from './token-review.ts';

const issuer = 'https://kubernetes.default.svc';
const audiences = [issuer];
const account = { namespace: 'ns', name: 'robot' };
const keyPem = newPrivateKeyPem();
const keys = new SigningKeys(keyPem);

function setUp() {
  const views = new FixtureViews();
  const clock = new HandClock();
  views.of('', 'serviceaccounts').put({ metadata: { ...account, uid: 'sa-1' } });
  views.of('', 'nodes').put({ metadata: { name: 'n1', uid: 'node-1' } });
  views.of('', 'pods').put({
    metadata: { namespace: 'ns', name: 'p', uid: 'pod-1' },
    spec: { serviceAccountName: 'robot', nodeName: 'n1' },
  });
  views.of('', 'secrets').put({ metadata: { namespace: 'ns', name: 's', uid: 'secret-1' }, data: {} });
  const tokens = new ServiceAccountTokens({ issuers: [issuer], audiences, keys, views, clock });
  const warnings: string[] = [];
  const options: TokenIssuerOptions = {
    issuer,
    audiences,
    keys,
    views,
    clock,
    random: seededRandom,
    warn: (text) => warnings.push(text),
  };
  const issue = (spec: JsonObject = {}, metadata = {}) => issueToken(account, { metadata, spec }, options);
  const accept = (token: string, forWhom?: readonly string[]) =>
    tokens.authenticateToken(token, forWhom ? { audiences: forWhom } : {});
  return { views, clock, tokens, warnings, options, issue, accept };
}

function tokenOf(request: KubeObject): string {
  const status = request['status'];
  assert.ok(isJsonObject(status) && typeof status['token'] === 'string');
  return status['token'];
}

function claimsOf(token: string): JsonObject {
  return parseJwt(token)!.claims;
}

function objection(result: unknown): string {
  assert.ok(typeof result === 'object' && result !== null && 'invalid' in result, JSON.stringify(result));
  return String(result.invalid);
}

describe('issueToken', () => {
  it('fills defaults and writes the claims of upstream', () => {
    const { issue, clock } = setUp();
    const request = issue();
    const seconds = clock.now() / 1000;
    const claims = claimsOf(tokenOf(request));
    const { jti, ...rest } = claims;
    assert.match(textOf(jti), /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, {
      aud: audiences,
      exp: seconds + 3600,
      iat: seconds,
      nbf: seconds,
      iss: issuer,
      sub: 'system:serviceaccount:ns:robot',
      'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'sa-1' } },
    });
    const status = request['status'] as JsonObject;
    assert.equal(status['expirationTimestamp'], '2026-11-21T01:00:00Z');
    assert.deepEqual(request['spec'], { audiences, expirationSeconds: 3600 });
  });

  it('binds to pods (with their node), secrets and nodes', () => {
    const { issue } = setUp();
    const bound = (kind: string, name: string) =>
      claimsOf(tokenOf(issue({ boundObjectRef: { kind, apiVersion: 'v1', name } })))[
        'kubernetes.io'
      ] as JsonObject;
    assert.deepEqual(bound('Pod', 'p')['pod'], { name: 'p', uid: 'pod-1' });
    assert.deepEqual(bound('Pod', 'p')['node'], { name: 'n1', uid: 'node-1' });
    assert.deepEqual(bound('Secret', 's')['secret'], { name: 's', uid: 'secret-1' });
    assert.deepEqual(bound('Node', 'n1')['node'], { name: 'n1', uid: 'node-1' });
  });

  it('refuses with the texts of upstream', () => {
    const { issue, views, options, warnings } = setUp();
    const refusal = (run: () => unknown): [number, string] => {
      try {
        run();
      } catch (error) {
        assert.ok(StatusError.is(error), String(error));
        return [error.code, error.message];
      }
      assert.fail('not refused');
    };
    views
      .of('', 'pods')
      .put({ metadata: { namespace: 'ns', name: 'other', uid: 'x' }, spec: { serviceAccountName: 'else' } });
    const ref = (kind: string, name: string, more = {}) => ({
      boundObjectRef: { kind, apiVersion: 'v1', name, ...more },
    });
    assert.deepEqual(
      [
        refusal(() => issue({ expirationSeconds: 599 })),
        refusal(() => issue({ expirationSeconds: 2 ** 33 })),
        refusal(() => issue({}, { name: 'no' })),
        refusal(() => issue({}, { uid: 'no' })),
        refusal(() => issue(ref('Pod', 'gone'))),
        refusal(() => issue(ref('Pod', 'other'))),
        refusal(() => issue(ref('Pod', 'p', { uid: 'no' }))),
        refusal(() => issue({ boundObjectRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'd' } })),
        refusal(() => issueToken({ namespace: 'ns', name: 'gone' }, { metadata: {} }, options)),
      ],
      [
        [
          422,
          'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
        ],
        [
          422,
          'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds',
        ],
        [
          422,
          'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "no": must match the service account name if specified',
        ],
        [
          409,
          'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (no) does not match the UID of the service account (sa-1)',
        ],
        [404, 'pods "gone" not found'],
        [
          400,
          'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
        ],
        [
          409,
          'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (no) does not match the UID in record. The object might have been deleted and then recreated',
        ],
        [400, 'cannot bind token to object of type apps/v1, Kind=Deployment'],
        [404, 'serviceaccounts "gone" not found'],
      ],
    );
    const long = issueToken(
      account,
      { metadata: {}, spec: { expirationSeconds: 90_000 } },
      { ...options, maximumSeconds: 86_400 },
    );
    assert.equal((long['spec'] as JsonObject)['expirationSeconds'], 86_400);
    assert.deepEqual(warnings, ['requested expiration of 90000 seconds shortened to 86400 seconds']);
  });
});

describe('ServiceAccountTokens', () => {
  it('gives the user with groups and extra, and the same object again', () => {
    const { issue, accept } = setUp();
    const token = tokenOf(issue({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }));
    const result = accept(token);
    assert.ok(result && 'user' in result);
    assert.deepEqual(result.user, {
      name: 'system:serviceaccount:ns:robot',
      uid: 'sa-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      extra: {
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['pod-1'],
        'authentication.kubernetes.io/credential-id': [`JTI=${textOf(claimsOf(token)['jti'])}`],
        'authentication.kubernetes.io/node-name': ['n1'],
        'authentication.kubernetes.io/node-uid': ['node-1'],
      },
    });
    const again = accept(token);
    assert.ok(again && 'user' in again && again.user === result.user);
  });

  it('refuses tampered, foreign, late, early and misdirected tokens', () => {
    const { issue, accept, clock } = setUp();
    const token = tokenOf(issue());
    const [head = '', body = '', signature = ''] = token.split('.');
    const forged = Buffer.from(
      JSON.stringify({ ...claimsOf(token), sub: 'system:serviceaccount:kube-system:root' }),
    ).toString('base64url');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const stranger = new SigningKeys(newPrivateKeyPem()).sign(claimsOf(token));
    const hmac = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${body}.${signature}`;
    for (const bad of [
      `${head}.${forged}.${signature}`,
      `${none}.${body}.${signature}`,
      stranger,
      hmac,
      `${head}.${body}.AAAA`,
    ]) {
      assert.equal(objection(accept(bad)), 'invalid signature');
    }
    assert.equal(accept('no.such.token'), undefined);
    assert.equal(accept(keys.sign({ ...claimsOf(token), iss: 'https://elsewhere' })), undefined);
    assert.match(objection(accept(token, ['https://vault'])), /is invalid for the target audiences/);
    assert.ok('user' in accept(tokenOf(issue({ audiences: ['vault'] })), ['vault'])!);
    assert.match(objection(accept(tokenOf(issue({ audiences: ['vault'] })))), /token audiences/);
    clock.advance(3600_000 + 59_000);
    assert.ok('user' in accept(token)!);
    clock.advance(2_000);
    assert.equal(objection(accept(token)), 'service account token has expired');
    const seconds = clock.now() / 1000;
    assert.match(
      objection(accept(keys.sign({ ...claimsOf(token), exp: seconds + 900, nbf: seconds + 120 }))),
      /not valid yet/,
    );
  });

  it('dies with its account, its pod, its secret and its node', () => {
    const kinds: Record<string, [string, string, string]> = {
      Pod: ['pods', 'ns', 'p'],
      Secret: ['secrets', 'ns', 's'],
      Node: ['nodes', '', 'n1'],
    };
    for (const [kind, [resource, namespace, name]] of Object.entries(kinds)) {
      const { issue, accept, views, clock } = setUp();
      const token = tokenOf(issue({ boundObjectRef: { kind, apiVersion: 'v1', name } }));
      const view = views.of('', resource);
      const object = view.get(namespace, name)!;
      assert.ok('user' in accept(token)!);
      view.put({
        ...object,
        metadata: { ...object.metadata, deletionTimestamp: new Date(clock.now()).toISOString() },
      });
      assert.ok('user' in accept(token)!, 'still good while it is being deleted');
      clock.advance(61_000);
      assert.equal(objection(accept(token)), 'service account token has been invalidated');
      view.put({ ...object, metadata: { ...object.metadata, uid: 'another' } });
      assert.equal(objection(accept(token)), 'service account token has been invalidated');
      view.remove(namespace, name);
      assert.equal(objection(accept(token)), 'service account token has been invalidated');
    }
    const { issue, accept, views } = setUp();
    const token = tokenOf(issue());
    assert.ok('user' in accept(token)!);
    views.of('', 'serviceaccounts').put({ metadata: { ...account, uid: 'sa-2' } });
    assert.equal(objection(accept(token)), 'service account UID (sa-2) does not match claim (sa-1)');
    views.of('', 'serviceaccounts').remove('ns', 'robot');
    assert.equal(objection(accept(token)), 'serviceaccounts "robot" not found');
  });

  it('accepts tokens kept in Secrets while the Secret holds them', () => {
    const { accept, views } = setUp();
    const token = keys.sign(legacyClaims({ ...account, uid: 'sa-1' }, 's'));
    assert.equal(objection(accept(token)), "Token does not match server's copy");
    const secrets = views.of('', 'secrets');
    const secret = {
      metadata: { namespace: 'ns', name: 's' },
      data: { token: Buffer.from(token).toString('base64') },
    };
    secrets.put(secret);
    assert.ok('user' in accept(token)!);
    secrets.put({
      ...secret,
      metadata: { ...secret.metadata, labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } },
    });
    assert.match(objection(accept(token)), /has been marked invalid/);
    secrets.remove('ns', 's');
    assert.equal(objection(accept(token)), 'Token has been invalidated');
  });

  it('accepts RSA keys and older keys of the server', () => {
    const { views, clock, issue } = setUp();
    const rsa = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const both = new SigningKeys(rsa.privateKey, [keyPem]);
    const tokens = new ServiceAccountTokens({ issuers: [issuer], audiences, keys: both, views, clock });
    const old = tokenOf(issue());
    assert.ok('user' in tokens.authenticateToken(old, {})!);
    assert.ok('user' in tokens.authenticateToken(both.sign(claimsOf(old)), {})!);
    const document = JSON.parse(openidConfiguration(issuer, `${issuer}/openid/v1/jwks`, both)) as JsonObject;
    assert.deepEqual(document['id_token_signing_alg_values_supported'], ['ES256', 'RS256']);
    const set = JSON.parse(jsonWebKeySet(both)) as { keys: JsonObject[] };
    assert.deepEqual(
      set.keys.map((key) => [key['kty'], key['alg'], key['use'], key['d']]),
      [
        ['RSA', 'RS256', 'sig', undefined],
        ['EC', 'ES256', 'sig', undefined],
      ],
    );
  });
});

describe('reviews', () => {
  it('answer whether a token is good, for whom', async () => {
    const { issue, tokens } = setUp();
    const options = { authenticators: [tokens], audiences, signal: new AbortController().signal };
    const status = async (token: string, forWhom?: string[]) =>
      (await reviewToken({ metadata: {}, spec: { token, ...(forWhom && { audiences: forWhom }) } }, options))[
        'status'
      ] as JsonObject;
    const good = await status(tokenOf(issue()));
    assert.equal(good['authenticated'], true);
    assert.deepEqual(good['audiences'], audiences);
    assert.deepEqual((good['user'] as JsonObject)['groups'], [
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
    const misdirected = await status(tokenOf(issue()), ['vault']);
    assert.equal(misdirected['authenticated'], undefined);
    assert.match(textOf(misdirected['error']), /token audiences/);
    assert.deepEqual(await status('garbage'), { error: 'invalid bearer token', user: {} });
    await assert.rejects(() => status(''), { code: 400 });
    assert.deepEqual(
      reviewSelf({ metadata: {} }, { name: 'x', groups: ['g'], extra: { k: ['v'] } })['status'],
      {
        userInfo: { username: 'x', groups: ['g'], extra: { k: ['v'] } },
      },
    );
  });
});

describe('signJwt', () => {
  it('is understood by an independent implementation', async () => {
    const { jwtVerify, importJWK } = await import('jose');
    const token = keys.sign({ iss: issuer, aud: audiences });
    const [jwk] = keys.publicKeys();
    const { payload, protectedHeader } = await jwtVerify(token, await importJWK(jwk as never), {
      issuer,
      audience: issuer,
    });
    assert.equal(payload.iss, issuer);
    assert.equal(protectedHeader.kid, jwk!['kid']);
    const ed = generateKeyPairSync('ed25519');
    assert.ok(parseJwt(signJwt({ a: 1 }, ed.privateKey, 'k')));
  });
});
