import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, MetricsRegistry, silentLogger } from '@sheaf/base';
import { startTestServer, TestClock } from '@sheaf/testkit';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import { AuditLog } from './audit-log.ts';
import type { AuditPolicy } from './audit-policy.ts';
import { AuditPolicyError, readAuditPolicy } from './read-audit-policy.ts';

const jane = { name: 'jane', groups: ['system:masters', 'system:authenticated'] };

class MemoryFile {
  lines: JsonObject[] = [];
  fault: Error | undefined;

  append(text: string): Promise<void> {
    if (this.fault) return Promise.reject(this.fault);
    this.lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonObject),
    );
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function start(policy?: AuditPolicy): Promise<{
  send(
    method: string,
    target: string,
    options?: { body?: object; headers?: ApiRequest['headers']; anonymous?: boolean },
  ): Promise<ApiResponse>;
  file: MemoryFile;
  log: AuditLog;
  clock: TestClock;
  metrics: MetricsRegistry;
  close(): Promise<void>;
}> {
  const clock = new TestClock();
  const file = new MemoryFile();
  const metrics = new MetricsRegistry();
  const log = new AuditLog({ file, clock, metrics, logger: silentLogger, ...(policy ? { policy } : {}) });
  const { server, close } = await startTestServer({ clock, observer: log });
  await log.flush();
  file.lines = [];
  return {
    file,
    log,
    clock,
    metrics,
    close,
    send(method, target, { body, headers = {}, anonymous = false } = {}) {
      const [path = '', query = ''] = target.split('?');
      return server.handle({
        method,
        path,
        query,
        headers: { 'user-agent': 'test/1', 'audit-id': `${method} ${path}`, ...headers },
        signal: new AbortController().signal,
        remoteAddress: '192.0.2.7',
        readBody: () => Promise.resolve(Buffer.from(body ? JSON.stringify(body) : '')),
        ...(anonymous ? {} : { trustedUser: jane }),
      });
    },
  };
}

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'n-' } };

describe('AuditLog', () => {
  it('writes what was done by whom, and what came of it', async () => {
    const { send, file, log, close } = await start();
    const response = await send('POST', '/api/v1/namespaces?fieldManager=x', { body: namespace });
    const body = response.body.kind === 'bytes' ? Buffer.concat(response.body.chunks).toString() : '';
    const { metadata } = JSON.parse(body) as { metadata: Record<string, string> };
    await log.flush();
    assert.deepEqual(file.lines, [
      {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        auditID: 'POST /api/v1/namespaces',
        stage: 'ResponseComplete',
        requestURI: '/api/v1/namespaces?fieldManager=x',
        verb: 'create',
        user: { username: 'jane', groups: jane.groups },
        sourceIPs: ['192.0.2.7'],
        userAgent: 'test/1',
        objectRef: {
          resource: 'namespaces',
          name: metadata['name'],
          uid: metadata['uid'],
          apiVersion: 'v1',
          resourceVersion: metadata['resourceVersion'],
        },
        responseStatus: { metadata: {}, code: 201 },
        requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
        stageTimestamp: '2026-01-01T00:00:00.000000Z',
        annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
      },
    ]);
    await close();
  });

  it('leaves out reads and health checks, but not looks at secrets and not refusals', async () => {
    const { send, file, log, close } = await start();
    await send('GET', '/readyz');
    await send('GET', '/api/v1/namespaces');
    await send('GET', '/api/v1/secrets');
    await send('GET', '/api/v1/namespaces', { anonymous: true });
    await log.flush();
    assert.deepEqual(
      file.lines.map(({ verb, requestURI, user, responseStatus }) => [
        verb,
        requestURI,
        (user as JsonObject)['username'],
        (responseStatus as JsonObject)['code'],
      ]),
      [
        ['list', '/api/v1/secrets', 'jane', 200],
        ['list', '/api/v1/namespaces', 'system:anonymous', 403],
      ],
    );
    await close();
  });

  it('names what was created also when the answer was in protobuf', async () => {
    const { send, file, log, close } = await start();
    const headers = { accept: 'application/vnd.kubernetes.protobuf' };
    await send('POST', '/api/v1/namespaces', { body: namespace, headers });
    await log.flush();
    const reference = file.lines[0]?.['objectRef'] as Record<string, string> | undefined;
    assert.match(reference?.['name'] ?? '', /^n-/);
    assert.match(reference?.['uid'] ?? '', /^[0-9a-f-]{36}$/);
    assert.match(reference?.['resourceVersion'] ?? '', /^\d+$/);
    await close();
  });

  it('names both users of an impersonation', async () => {
    const { send, file, log, close } = await start();
    await send('DELETE', '/api/v1/namespaces/x', { headers: { 'impersonate-user': 'bob' } });
    await log.flush();
    const [event] = file.lines;
    assert.equal((event?.['user'] as JsonObject | undefined)?.['username'], 'jane');
    assert.equal((event?.['impersonatedUser'] as JsonObject | undefined)?.['username'], 'bob');
    await close();
  });

  it('writes bodies where the policy says so, never those of secrets', async () => {
    const { send, file, log, close } = await start({ rules: [{ level: 'RequestResponse' }] });
    await send('POST', '/api/v1/namespaces', { body: { ...namespace, metadata: { name: 'default' } } });
    await send('POST', '/api/v1/namespaces/default/secrets', {
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'topsecret' } },
    });
    await log.flush();
    const [first, second] = file.lines;
    assert.equal((first?.['requestObject'] as JsonObject | undefined)?.['kind'], 'Namespace');
    assert.equal((first?.['responseObject'] as JsonObject | undefined)?.['kind'], 'Namespace');
    assert.equal(second?.['level'], 'Metadata');
    assert.doesNotMatch(JSON.stringify(second), /topsecret|dG9wc2Vj/);
    await close();
  });

  it('a stream has a begin and an end', async () => {
    const { send, file, log, close } = await start({ rules: [{ level: 'Metadata' }] });
    const { body } = await send('GET', '/api/v1/namespaces?watch=true');
    if (body.kind === 'stream') body.start({ queuedBytes: 0, write() {}, end() {} }).dispose();
    await log.flush();
    assert.deepEqual(
      file.lines.map(({ stage }) => stage),
      ['ResponseStarted', 'ResponseComplete'],
    );
    await close();
  });

  it('goes on when the file cannot be written, says so, and writes later what waited', async () => {
    const { send, file, log, clock, close } = await start();
    file.fault = new Error('no space left on device');
    assert.equal((await send('POST', '/api/v1/namespaces', { body: namespace })).status, 201);
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
    assert.match((await log.check.check()) ?? '', /no space left on device; 1 events wait, 0 are lost/);
    file.fault = undefined;
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await log.check.check(), undefined);
    assert.equal(file.lines.length, 1);
    await log.close();
    await close();
  });
});

const written = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: None
    users: [jane]
    verbs: [delete]
  - level: RequestResponse
    resources:
      - group: ""
        resources: [configmaps]
    namespaces: [default]
  - level: Request
    userGroups: [system:masters]
    resources:
      - group: ""
        resources: ["namespaces"]
    omitStages: [ResponseStarted]
  - level: Metadata
    nonResourceURLs: ["/version*"]
`;

describe('readAuditPolicy', () => {
  it('what it reads decides what is written', async () => {
    const { send, file, log, close } = await start(readAuditPolicy(written));
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } };
    await send('POST', '/api/v1/namespaces', { body: { ...namespace, metadata: { name: 'default' } } });
    await send('POST', '/api/v1/namespaces/default/configmaps', { body: map });
    await send('DELETE', '/api/v1/namespaces/default/configmaps/m');
    await send('GET', '/version');
    await send('GET', '/healthz');
    await send('GET', '/api/v1/namespaces', { anonymous: true });
    const { body } = await send('GET', '/api/v1/namespaces?watch=true');
    if (body.kind === 'stream') body.start({ queuedBytes: 0, write() {}, end() {} }).dispose();
    await log.flush();
    assert.deepEqual(
      file.lines.map(({ level, stage, verb, requestURI, requestObject, responseObject }) => [
        [level, stage, verb, requestURI],
        requestObject !== undefined,
        Object.keys((responseObject as { metadata: object } | undefined)?.metadata ?? {}).includes('uid'),
      ]),
      [
        [['Request', 'ResponseComplete', 'create', '/api/v1/namespaces'], true, false],
        [
          ['RequestResponse', 'ResponseComplete', 'create', '/api/v1/namespaces/default/configmaps'],
          true,
          true,
        ],
        [['Metadata', 'ResponseComplete', 'get', '/version'], false, false],
        [['Request', 'ResponseComplete', 'watch', '/api/v1/namespaces?watch=true'], false, false],
      ],
    );
    assert.doesNotMatch(JSON.stringify(file.lines), /managedFields/);
    await close();
  });

  it('refuses what would log something else than was meant, and says where', () => {
    const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
    const cases: readonly (readonly [string, RegExp])[] = [
      ['a: [', /yaml/],
      ['[]', /not an object/],
      [
        'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]',
        /audit\.k8s\.io\/v1 and Policy/,
      ],
      [head, /^rules: .*at least one/],
      [`${head}rules: []`, /^rules: .*at least one/],
      [`${head}rules: [{level: None}]\nrule: []`, /^rule: there is no such field/],
      [`${head}rules: [{level: None}, {level: none}]`, /^rules\[1\]\.level: must be one of None,/],
      [`${head}rules: [{level: None, user: [a]}]`, /^rules\[0\]\.user: there is no such field/],
      [`${head}rules: [{level: None, users: a}]`, /^rules\[0\]\.users: must be a list/],
      [`${head}rules: [{level: None, verbs: [1]}]`, /^rules\[0\]\.verbs\[0\]: must be a string/],
      [`${head}rules: [{level: None, omitStages: [Begun]}]`, /^rules\[0\]\.omitStages: "Begun" is none of/],
      [`${head}rules: [{level: None, omitManagedFields: 1}]`, /^rules\[0\]\.omitManagedFields: must be true/],
      [`${head}rules: [{level: None, nonResourceURLs: [version]}]`, /nonResourceURLs: "version" must begin/],
      [`${head}rules: [{level: None, nonResourceURLs: ["/a*b"]}]`, /nonResourceURLs: .* at its end/],
      [`${head}rules: [{level: None, nonResourceURLs: ["*"], namespaces: [a]}]`, /make two rules/],
      [`${head}rules: [{level: None, resources: [pods]}]`, /^rules\[0\]\.resources\[0\]: must be an object/],
      [`${head}rules: [{level: None, resources: [{group: "*"}]}]`, /resources\[0\]\.group: must be the name/],
      [`${head}rules: [{level: None, resources: [{resourceNames: [a]}]}]`, /resourceNames: names need/],
    ];
    for (const [text, message] of cases)
      assert.throws(() => readAuditPolicy(text), { constructor: AuditPolicyError, message }, text);
  });
});
