import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import fc from 'fast-check';
import { FixtureViews } from '../authorization/live-views.fixture.ts';
import { clientAuthentication, serverAuthentication } from '../certificates/extensions.ts';
import {
  type Authority,
  type LeafContent,
  newKeyPair,
  newPrivateKeyPem,
  toAuthority,
} from '../certificates/key-pair.ts';
import { fromPem } from '../certificates/pem.ts';
import { CertificateTrust } from './certificate-trust.ts';
import { AuthenticationChain } from './chain.ts';
import { clientCertificateAuthenticator, frontProxyAuthenticator } from './client-certificate.ts';
import { HandClock, seededRandom } from './hand-clock.fixture.ts';
import type { HttpFetch } from './http-fetch.ts';
import { parseJwt } from './jwt.ts';
import { OidcTokens } from './oidc-tokens.ts';
import { readCredentials } from './read-credentials.ts';
import { BootstrapTokens, staticTokens } from './secret-tokens.ts';
import { parseServiceAccountUserName } from './service-account-user.ts';
import { SigningKeys } from './signing-keys.ts';
import { bearerTokenAuthenticator } from './token-authenticator.ts';
import type { AuthenticationResult, Credentials } from './user.ts';
import { WebhookTokens } from './webhook-tokens.ts';

const { signal } = new AbortController();
const day = 24 * 3600_000;
const start = new HandClock().now();
const life = { notBefore: start - day, notAfter: start + 30 * day };

function newAuthority(commonName: string): Authority {
  return toAuthority(
    newKeyPair(
      { subject: { commonName, organizations: [] }, isAuthority: true, ...life },
      undefined,
      seededRandom,
    ),
  );
}

const authority = newAuthority('ca');
const proxyAuthority = newAuthority('proxy-ca');
const stranger = newAuthority('ca');

function certificate(content: Partial<LeafContent> = {}, issuer = authority): Buffer {
  const subject = { commonName: 'jane', organizations: ['dev', 'ops'] };
  const pair = newKeyPair(
    { subject, purposes: [clientAuthentication], ...life, ...content },
    issuer,
    seededRandom,
  );
  return fromPem('CERTIFICATE', pair.certificatePem)[0]!;
}

function credentials(headers: Credentials['headers'] = {}, clientCertificate?: Uint8Array): Credentials {
  return readCredentials(headers, clientCertificate);
}

function chainWith(clock: HandClock, allowAnonymous = true): AuthenticationChain {
  const trust = new CertificateTrust([authority.certificatePem], clock);
  const proxyTrust = new CertificateTrust([proxyAuthority.certificatePem], clock);
  return new AuthenticationChain({
    allowAnonymous,
    authenticators: [
      frontProxyAuthenticator({ trust: proxyTrust, allowedNames: ['front-proxy-client'] }),
      clientCertificateAuthenticator(trust),
      bearerTokenAuthenticator([staticTokens([['secret', { name: 'root', groups: ['system:masters'] }]])]),
    ],
  });
}

const unauthorized = { code: 401, reason: 'Unauthorized', message: 'Unauthorized', details: undefined };

describe('AuthenticationChain', () => {
  it('takes certificates for users, with the fingerprint as credential id', async () => {
    const chain = chainWith(new HandClock());
    const der = certificate();
    const user = await chain.authenticate(credentials({}, der), signal);
    const id = user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '';
    assert.match(id, /^X509SHA256=[0-9a-f]{64}$/);
    assert.deepEqual([user.name, user.groups], ['jane', ['dev', 'ops', 'system:authenticated']]);
    assert.equal(await chain.authenticate(credentials({}, Buffer.from(der)), signal), user);
  });

  it('reads names from DER: line breaks in a common name make no groups', async () => {
    const der = certificate({
      subject: { commonName: 'x\nO=system:masters', organizations: [], uid: 'u-1' },
    });
    const user = await chainWith(new HandClock()).authenticate(credentials({}, der), signal);
    assert.deepEqual(
      [user.name, user.uid, user.groups],
      ['x\nO=system:masters', 'u-1', ['system:authenticated']],
    );
  });

  it('refuses strangers, wrong purposes, and certificates out of their time', async () => {
    const clock = new HandClock();
    const chain = chainWith(clock);
    const bad = [
      certificate({}, stranger),
      certificate({ purposes: [serverAuthentication] }),
      certificate({ notBefore: start + day }),
      Buffer.from('junk'),
      certificate({}, proxyAuthority),
    ];
    for (const der of bad)
      await assert.rejects(chain.authenticate(credentials({}, der), signal), unauthorized);
    const good = certificate();
    await chain.authenticate(credentials({}, good), signal);
    clock.advance(31 * day);
    await assert.rejects(chain.authenticate(credentials({}, good), signal), unauthorized);
  });

  it('believes X-Remote headers only from a front proxy', async () => {
    const chain = chainWith(new HandClock());
    const headers = {
      'x-remote-user': 'eve',
      'x-remote-group': ['a', 'b'],
      'x-remote-uid': '7',
      'x-remote-extra-acme.io%2fk': ['v'],
    };
    const proxy = certificate(
      { subject: { commonName: 'front-proxy-client', organizations: [] } },
      proxyAuthority,
    );
    const user = await chain.authenticate(credentials(headers, proxy), signal);
    assert.deepEqual(
      [user.name, user.uid, user.groups, { ...user.extra }],
      ['eve', '7', ['a', 'b', 'system:authenticated'], { 'acme.io/k': ['v'] }],
    );
    const other = certificate({ subject: { commonName: 'other', organizations: [] } }, proxyAuthority);
    await assert.rejects(chain.authenticate(credentials(headers, other), signal), unauthorized);
    assert.equal((await chain.authenticate(credentials(headers, certificate()), signal)).name, 'jane');
    assert.equal((await chain.authenticate(credentials(headers), signal)).name, 'system:anonymous');
  });

  it('lets a good token stand beside a bad certificate, and anonymous in only without credentials', async () => {
    const chain = chainWith(new HandClock());
    const bearer = { authorization: 'Bearer secret' };
    assert.equal(
      (await chain.authenticate(credentials(bearer, certificate({}, stranger)), signal)).name,
      'root',
    );
    assert.equal(
      (await chain.authenticate(credentials({ authorization: 'bearer  secret ' }), signal)).name,
      'root',
    );
    await assert.rejects(
      chain.authenticate(credentials({ authorization: 'Bearer wrong' }), signal),
      unauthorized,
    );
    assert.deepEqual(await chain.authenticate(credentials(), signal), {
      name: 'system:anonymous',
      groups: ['system:unauthenticated'],
    });
    await assert.rejects(chainWith(new HandClock(), false).authenticate(credentials(), signal), unauthorized);
    const protocol = `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`;
    const socket = { upgrade: 'websocket', 'sec-websocket-protocol': protocol };
    assert.equal((await chain.authenticate(credentials(socket), signal)).name, 'root');
  });

  it('never fails otherwise than with 401, whatever comes in', async () => {
    const chain = chainWith(new HandClock());
    const der = certificate();
    const value = fc.oneof(fc.string(), fc.array(fc.string()));
    const names = fc.oneof(
      fc.constantFrom(
        'authorization',
        'x-remote-user',
        'x-remote-extra-%',
        'upgrade',
        'sec-websocket-protocol',
        '__proto__',
      ),
      fc.string(),
    );
    const headers = fc.dictionary(names, value);
    const certificates = fc.oneof(
      fc.constant(undefined),
      fc.uint8Array({ maxLength: 200 }),
      fc.tuple(fc.nat(der.length - 1), fc.nat(255)).map(([at, byte]) => {
        const copy = Buffer.from(der);
        copy[at] = byte;
        return copy;
      }),
      fc.nat(der.length).map((length) => der.subarray(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(headers, certificates, async (head, client) => {
        const user = await chain.authenticate(credentials(head, client), signal).catch((error: unknown) => {
          assert.equal((error as { code?: number }).code, 401, String(error));
          return undefined;
        });
        assert.notEqual(user?.name, 'root');
      }),
      { numRuns: 150 },
    );
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });
});

describe('parseJwt', () => {
  it('takes anything', () => {
    fc.assert(
      fc.property(fc.string(), (text) => assert.equal(parseJwt(text)?.algorithm ?? '', '')),
      { numRuns: 300 },
    );
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const json = fc.json().map((text) => part(JSON.parse(text)));
    fc.assert(
      fc.property(json, json, (head, body) => void parseJwt(`${head}.${body}.AA`)),
      { numRuns: 300 },
    );
    assert.equal(parseJwt(`${part({ alg: 'ES256', crit: ['x'] })}.${part({})}.AA`), undefined);
    assert.equal(parseJwt(`${'a'.repeat(40_000)}.b.c`), undefined);
  });
});

describe('parseServiceAccountUserName', () => {
  it('takes only well-formed names', () => {
    const parse = (text: string) => parseServiceAccountUserName(`system:serviceaccount:${text}`);
    assert.deepEqual(parse('ns:a.b'), { namespace: 'ns', name: 'a.b' });
    for (const bad of ['ns', 'ns:', ':a', 'ns:a:b', 'NS:a', 'ns:A', 'n.s:a', `${'n'.repeat(64)}:a`])
      assert.equal(parse(bad), undefined, bad);
  });
});

describe('BootstrapTokens', () => {
  it('follows the Secret', () => {
    const views = new FixtureViews();
    const clock = new HandClock();
    const tokens = new BootstrapTokens(views, clock);
    const put = (data: Record<string, string>, type = 'bootstrap.kubernetes.io/token') => {
      const full = {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
        ...data,
      };
      const encoded = Object.fromEntries(
        Object.entries(full).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
      views
        .of('', 'secrets')
        .put({ metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef' }, type, data: encoded });
    };
    const ask = (token = 'abcdef.0123456789abcdef') => tokens.authenticateToken(token);
    assert.equal(ask(), undefined);
    put({ 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' });
    assert.deepEqual(ask(), {
      user: {
        name: 'system:bootstrap:abcdef',
        groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b'],
      },
    });
    assert.equal(ask('abcdef.0123456789abcdee'), undefined);
    for (const bad of [
      { expiration: '2026-11-20T00:00:00Z' },
      { expiration: 'soon' },
      { 'auth-extra-groups': 'system:masters' },
      { 'usage-bootstrap-authentication': 'no' },
      { 'token-id': 'fedcba' },
    ]) {
      put(bad);
      assert.equal(ask(), undefined, JSON.stringify(bad));
    }
    put({ expiration: '2026-11-22T00:00:00Z' });
    assert.ok(ask());
    put({}, 'Opaque');
    assert.equal(ask(), undefined);
  });
});

function answering(answers: Readonly<Record<string, unknown>>, log: string[] = []): HttpFetch {
  return async (url, init) => {
    log.push(`${init.method} ${url}`);
    const answer =
      typeof answers[url] === 'function'
        ? (answers[url] as (body: string) => unknown)(init.body ?? '')
        : answers[url];
    const status = answer === undefined ? 404 : 200;
    return {
      status,
      body: (async function* () {
        yield Buffer.from(JSON.stringify(answer ?? {}));
      })(),
    };
  };
}

describe('OidcTokens', () => {
  const url = 'https://issuer.example';
  const keys = new SigningKeys(newPrivateKeyPem());
  const answers = (more: SigningKeys[] = []) => ({
    [`${url}/.well-known/openid-configuration`]: { issuer: url, jwks_uri: `${url}/keys` },
    [`${url}/keys`]: { keys: [...[keys, ...more].flatMap((item) => item.publicKeys()), { kty: 'strange' }] },
  });
  const issuer = {
    url,
    audiences: ['sheaf'],
    username: { claim: 'email', prefix: 'oidc:' },
    groups: { claim: 'roles', prefix: 'oidc:' },
    extra: { 'acme.io/tenant': 'tenant' },
    requiredClaims: { hd: 'acme' },
  };
  const claims = (more: JsonObject = {}): JsonObject => ({
    iss: url,
    aud: ['sheaf'],
    exp: start / 1000 + 600,
    email: 'jane@acme',
    roles: ['dev', 7],
    tenant: 't',
    hd: 'acme',
    ...more,
  });
  const make = (fetch: HttpFetch, clock = new HandClock()) => ({
    clock,
    tokens: new OidcTokens({ issuers: [issuer], audiences: ['api'], fetch, clock }),
  });
  const reason = (result: AuthenticationResult) =>
    result && 'invalid' in result ? result.invalid : `accepted ${JSON.stringify(result)}`;

  it('maps claims', async () => {
    const log: string[] = [];
    const { tokens } = make(answering(answers(), log));
    const token = keys.sign(claims());
    const expected = {
      user: { name: 'oidc:jane@acme', groups: ['oidc:dev'], extra: { 'acme.io/tenant': ['t'] } },
      audiences: ['api'],
    };
    assert.deepEqual(await tokens.authenticateToken(token, { signal }), expected);
    assert.deepEqual(await tokens.authenticateToken(token, { signal }), expected);
    assert.equal(log.length, 2);
  });

  it('refuses what does not fit', async () => {
    const { tokens, clock } = make(answering(answers()));
    const ask = async (more: JsonObject, by = keys) =>
      reason(await tokens.authenticateToken(by.sign(claims(more)), { signal }));
    assert.match(await ask({ aud: 'else' }), /expected audience/);
    assert.match(await ask({ email_verified: false }), /email not verified/);
    assert.match(await ask({ hd: 'evil' }), /required claim hd/);
    assert.match(await ask({ email: 7 }), /names no user/);
    assert.match(await ask({ exp: 'never' }), /no expiry/);
    assert.match(await ask({}, new SigningKeys(newPrivateKeyPem())), /failed to verify signature/);
    assert.match(await ask({ exp: start / 1000 - 100 }), /has expired/);
    assert.equal(
      await tokens.authenticateToken(keys.sign(claims({ iss: 'https://other' })), { signal }),
      undefined,
    );
    const token = keys.sign(claims());
    assert.match(reason(await tokens.authenticateToken(token, { signal, audiences: ['vault'] })), /audience/);
    clock.advance(700_000);
    assert.match(reason(await tokens.authenticateToken(token, { signal })), /has expired/);
  });

  it('fetches new keys when a token names one, not oftener than allowed, and survives an issuer that is down', async () => {
    const next = new SigningKeys(newPrivateKeyPem());
    const known: SigningKeys[] = [];
    const log: string[] = [];
    let isDown = false;
    const fetch: HttpFetch = (address, init) =>
      isDown ? Promise.reject(new Error('down')) : answering(answers(known), log)(address, init);
    const { tokens, clock } = make(fetch);
    const ask = async (by: SigningKeys, n: number) =>
      reason(await tokens.authenticateToken(by.sign(claims({ n })), { signal }));
    assert.match(await ask(keys, 1), /accepted/);
    known.push(next);
    assert.match(await ask(next, 2), /failed to verify/);
    assert.equal(log.length, 2);
    clock.advance(11_000);
    assert.match(await ask(next, 3), /accepted/);
    isDown = true;
    clock.advance(300_000);
    assert.match(await ask(next, 4), /accepted/);
    const broken = make(() => Promise.reject(new Error('down'))).tokens;
    assert.equal(reason(await broken.authenticateToken(keys.sign(claims()), { signal })), 'oidc: down');
    const lying = make(
      answering({
        [`${url}/.well-known/openid-configuration`]: { issuer: 'https://evil', jwks_uri: `${url}/keys` },
      }),
    ).tokens;
    assert.match(reason(await lying.authenticateToken(keys.sign(claims()), { signal })), /calls itself/);
    assert.throws(
      () => new OidcTokens({ issuers: [{ ...issuer, url: 'http://plain' }], audiences: [], fetch, clock }),
      /https/,
    );
  });
});

describe('WebhookTokens', () => {
  it('asks once per token and audience, and forgets in time', async () => {
    const log: string[] = [];
    const clock = new HandClock();
    const judge = (body: string) => {
      const { spec } = JSON.parse(body) as { spec: { token: string; audiences: string[] } };
      if (spec.token === 'good')
        return {
          status: {
            authenticated: true,
            user: { username: 'u', uid: '1', groups: ['g'], extra: { k: ['v'] } },
            audiences: spec.audiences,
          },
        };
      return {
        status:
          spec.token === 'bad' ? { authenticated: false, error: 'no such token' } : { authenticated: false },
      };
    };
    const url = 'https://hook';
    const tokens = new WebhookTokens({
      url,
      fetch: answering({ [url]: judge }, log),
      clock,
      audiences: ['api'],
    });
    const good = { user: { name: 'u', uid: '1', groups: ['g'], extra: { k: ['v'] } }, audiences: ['api'] };
    assert.deepEqual(await tokens.authenticateToken('good', { signal }), good);
    assert.deepEqual(await tokens.authenticateToken('good', { signal }), good);
    assert.deepEqual(await tokens.authenticateToken('bad', { signal }), { invalid: 'no such token' });
    assert.equal(await tokens.authenticateToken('unknown', { signal }), undefined);
    assert.equal(log.length, 3);
    clock.advance(121_000);
    await tokens.authenticateToken('good', { signal });
    assert.equal(log.length, 4);
    const silent = new WebhookTokens({ url, fetch: answering({}), clock, audiences: [] });
    assert.deepEqual(await silent.authenticateToken('good', { signal }), {
      invalid: 'the token webhook failed: https://hook answered 404',
    });
  });

  it('gives up at the deadline and on endless answers', async () => {
    const clock = new HandClock();
    const hanging: HttpFetch = (_url, init) =>
      new Promise((_resolve, reject) =>
        init.signal.addEventListener('abort', () => reject(init.signal.reason as Error)),
      );
    const slow = new WebhookTokens({ url: 'https://hook', fetch: hanging, clock, audiences: [] });
    const pending = slow.authenticateToken('t', { signal });
    clock.advance(10_000);
    assert.deepEqual(await pending, {
      invalid: 'the token webhook failed: no answer from https://hook in time',
    });
    const endless: HttpFetch = async () => ({
      status: 200,
      body: (async function* () {
        for (;;) yield new Uint8Array(100_000);
      })(),
    });
    const flood = new WebhookTokens({ url: 'https://hook', fetch: endless, clock, audiences: [] });
    assert.deepEqual(await flood.authenticateToken('t', { signal }), {
      invalid: 'the token webhook failed: the answer is too large',
    });
  });
});
