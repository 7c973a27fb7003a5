import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import type { TestServer } from '@sheaf/testkit';
import type { WebhookClient, WebhookTarget } from '../webhook/index.ts';
import {
  type Fields,
  kinds,
  named,
  outcome,
  resource,
  startAdmissionServer,
} from './admission-server.fixture.ts';

const group = 'admissionregistration.k8s.io';
const mutating = resource(`mutatingwebhookconfigurations.${group}`, 'MutatingWebhookConfiguration', false);
const validating = resource(
  `validatingwebhookconfigurations.${group}`,
  'ValidatingWebhookConfiguration',
  false,
);
const onConfigMaps = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] };

type Answer = (request: JsonObject) => JsonObject | Promise<JsonObject>;

const allow: Answer = () => ({ allowed: true });
const patchWith =
  (...operations: JsonObject[]): Answer =>
  () => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  });
const setData = (key: string, value: string): Answer => patchWith({ op: 'add', path: `/data/${key}`, value });

function requestIn(review: JsonObject | undefined): JsonObject {
  const request = review?.['request'];
  assert.ok(isJsonObject(request));
  return request;
}

describe('admission webhooks', () => {
  let test: TestServer;
  let hooks = new Map<string, Answer>();
  let calls: { readonly target: WebhookTarget; readonly review: JsonObject }[] = [];

  const webhookClient: WebhookClient = async (target, body) => {
    const review = JSON.parse(body) as JsonObject;
    calls.push({ target, review });
    const answer = hooks.get(new URL(target.url).pathname.slice(1));
    if (!answer) throw new Error('connection refused');
    const request = review['request'] as JsonObject;
    const response = { uid: request['uid'] ?? '', ...(await answer(request)) };
    return {
      status: 200,
      body: JSON.stringify({ apiVersion: review['apiVersion'], kind: 'AdmissionReview', response }),
    };
  };

  before(async () => (test = await startAdmissionServer({ webhookClient })));
  after(() => test.close());
  beforeEach(async () => {
    for (const kind of [mutating, validating]) {
      for (const { metadata } of (await test.client.list(kind)).items)
        await test.client.delete(kind, { name: metadata.name ?? '' });
    }
    hooks = new Map();
    calls = [];
  });

  const webhook = (name: string, more: Fields = {}): Fields => ({
    name: `${name}.example.com`,
    clientConfig: { url: `https://hooks.example.com/${name}` },
    rules: [onConfigMaps],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  });
  const install = (kind: typeof mutating, name: string, webhooks: Fields[]): Promise<unknown> =>
    test.client.create(kind, { metadata: { name }, webhooks });
  let serial = 0;
  const make = (fields: Fields = {}, query: { dryRun?: boolean } = {}) =>
    test.client.create(kinds.configMaps, named(`c${serial++}`, { data: { x: '0' }, ...fields }), query);

  it('sends a review and takes over the patch', async () => {
    hooks.set('one', setData('a', '1'));
    await install(mutating, 'm', [webhook('one')]);
    const made = await make();
    assert.deepEqual(made['data'], { a: '1', x: '0' });
    const { review, target } = calls[0] ?? {};
    assert.equal(target?.url, 'https://hooks.example.com/one?timeout=10s');
    const { uid, object, options, ...request } = requestIn(review);
    assert.ok(isJsonObject(options) && options['kind'] === 'CreateOptions');
    assert.ok(typeof uid === 'string');
    assert.match(uid, /^[0-9a-f-]{36}$/);
    assert.ok(isJsonObject(object) && object['kind'] === 'ConfigMap');
    assert.deepEqual(request, {
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: made.metadata.name,
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      oldObject: null,
      dryRun: false,
    });
  });

  it('answers with the reason and code of a refusal, or 400', async () => {
    const prefix = 'admission webhook "no.example.com" denied the request';
    const answers: readonly (readonly [JsonObject, string])[] = [
      [{ allowed: false }, `400 ${prefix} without explanation`],
      [
        { allowed: false, status: { message: 'not today', code: 403, reason: 'Forbidden' } },
        `403 ${prefix}: not today`,
      ],
      [{ allowed: false, status: { reason: 'Conflict', code: 200 } }, `400 ${prefix}: Conflict`],
    ];
    await install(validating, 'v', [webhook('no')]);
    for (const [answer, text] of answers) {
      hooks.set('no', () => answer);
      assert.equal(await outcome(make()), text);
    }
  });

  it('fails with the request if the webhook cannot be reached, unless failures are ignored', async () => {
    await install(validating, 'v', [webhook('gone')]);
    await assert.rejects(make(), (error: unknown) => {
      assert.ok(StatusError.is(error, 'InternalError'));
      const text =
        'failed calling webhook "gone.example.com": failed to call webhook: Post "https://hooks.example.com/gone?timeout=10s": connection refused';
      assert.equal(error.message, `Internal error occurred: ${text}`);
      assert.deepEqual(error.details?.causes, [{ message: text }]);
      return true;
    });
    await test.client.delete(validating, { name: 'v' });
    await install(validating, 'v', [webhook('gone', { failurePolicy: 'Ignore' })]);
    assert.equal(await outcome(make()), 'ok');
  });

  it('names what a service lacks', async () => {
    const service = { namespace: 'default', name: 'hooks', path: '/x' };
    await install(validating, 'v', [webhook('s', { clientConfig: { service } })]);
    assert.equal(
      await outcome(make()),
      '500 Internal error occurred: failed calling webhook "s.example.com": failed to call webhook: Post "https://hooks.default.svc:443/x?timeout=10s": service "hooks" in namespace "default" does not exist',
    );
  });

  it('does not believe answers that break the protocol', async () => {
    const invalid = (name: string, detail: string): string =>
      `500 Internal error occurred: failed calling webhook "${name}.example.com": received invalid webhook response: ${detail}`;
    await install(validating, 'v', [webhook('v')]);
    hooks.set('v', patchWith({ op: 'add', path: '/data/a', value: '1' }));
    assert.equal(await outcome(make()), invalid('v', 'validating webhook may not return response.patch'));
    hooks.set('v', () => ({ allowed: true, uid: 'other' }));
    assert.match(await outcome(make()), /expected response\.uid="[^"]+", got "other"/);
  });

  it('asks by selectors, rules and conditions', async () => {
    hooks.set('v', () => ({ allowed: false }));
    const selective: readonly (readonly [Fields, Fields, boolean])[] = [
      [{ objectSelector: { matchLabels: { a: '1' } } }, {}, false],
      [{ objectSelector: { matchLabels: { a: '1' } } }, { labels: { a: '1' } }, true],
      [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }, {}, false],
      [{ rules: [{ ...onConfigMaps, operations: ['DELETE'] }] }, {}, false],
      [{ rules: [{ ...onConfigMaps, scope: 'Cluster' }] }, {}, false],
      [{ rules: [{ ...onConfigMaps, apiGroups: ['*'], resources: ['*/*'] }] }, {}, true],
      [{ matchConditions: [{ name: 'x', expression: "object.metadata.name.startsWith('z')" }] }, {}, false],
      [
        { matchConditions: [{ name: 'x', expression: "request.userInfo.username == 'kubernetes-admin'" }] },
        {},
        true,
      ],
      [
        {
          matchConditions: [
            { name: 'x', expression: "authorizer.group('').resource('pods').check('get').allowed()" },
          ],
        },
        {},
        true,
      ],
    ];
    for (const [index, [fields, metadata, isAsked]] of selective.entries()) {
      await install(validating, `v${index}`, [webhook('v', fields)]);
      const name = `s${serial++}`;
      const work = test.client.create(kinds.configMaps, {
        metadata: { name, namespace: 'default', ...metadata },
      });
      assert.equal((await outcome(work)) !== 'ok', isAsked, JSON.stringify(fields));
      await test.client.delete(validating, { name: `v${index}` });
    }
  });

  it('refuses when a condition fails, and skips the webhook when failures are ignored', async () => {
    const matchConditions = [{ name: 'x', expression: 'object.spec.missing == 1' }];
    await install(validating, 'v', [webhook('v', { matchConditions })]);
    assert.match(
      await outcome(make()),
      /^403 configmaps "c\d+" is forbidden: expression 'object.spec.missing == 1' resulted in error: no such key: spec$/,
    );
    await test.client.delete(validating, { name: 'v' });
    await install(validating, 'v', [webhook('v', { matchConditions, failurePolicy: 'Ignore' })]);
    assert.equal(await outcome(make()), 'ok');
  });

  it('calls nobody for a rehearsal who would have side effects', async () => {
    await install(validating, 'v', [webhook('v', { sideEffects: 'NoneOnDryRun' })]);
    hooks.set('v', allow);
    assert.equal(await outcome(make({}, { dryRun: true })), 'ok');
    assert.equal(requestIn(calls[0]?.review)['dryRun'], true);
  });

  it('lets a webhook see again what a later one has changed', async () => {
    hooks.set('first', ({ object }) => {
      const data = (object as JsonObject)['data'] as JsonObject;
      return data['b'] ? setData('sawB', 'yes')({}) : { allowed: true };
    });
    hooks.set('second', setData('b', '1'));
    await install(mutating, 'm', [webhook('first', { reinvocationPolicy: 'IfNeeded' }), webhook('second')]);
    assert.deepEqual((await make())['data'], { b: '1', sawB: 'yes', x: '0' });
    assert.equal(calls.length, 3);
  });

  it('never asks about the configurations themselves', async () => {
    const everything = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] };
    await install(validating, 'v', [webhook('gone', { rules: [everything] })]);
    assert.equal(await outcome(test.client.delete(validating, { name: 'v' })), 'ok');
  });

  it('sends the version that a rule is written for', async () => {
    const rule = {
      apiGroups: ['autoscaling'],
      apiVersions: ['v1'],
      resources: ['horizontalpodautoscalers'],
      operations: ['*'],
    };
    hooks.set('h', allow);
    await install(validating, 'v', [webhook('h', { rules: [rule] })]);
    const scalers = {
      ...resource('horizontalpodautoscalers.autoscaling', 'HorizontalPodAutoscaler'),
      version: 'v2',
    };
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } };
    await test.client.create(scalers, named('h', { spec }));
    const request = calls[0]?.review['request'] as Record<string, JsonObject>;
    assert.equal(request['kind']?.['version'], 'v1');
    assert.equal(request['requestKind']?.['version'], 'v2');
    assert.equal(request['object']?.['apiVersion'], 'autoscaling/v1');
  });

  it('tells warnings, and refuses a patch of what is deleted', async () => {
    hooks.set('m', setData('a', '1'));
    const made = await make();
    await install(mutating, 'm', [webhook('m')]);
    assert.equal(
      await outcome(
        test.client.delete(kinds.configMaps, { namespace: 'default', name: made.metadata.name ?? '' }),
      ),
      '500 Internal error occurred: admission webhook "m.example.com" attempted to modify the object, which is not supported for this operation',
    );
    hooks.set('m', () => ({ allowed: true, warnings: ['mind the gap'] }));
    const answer = await test.client.send({
      method: 'POST',
      target: '/api/v1/namespaces/default/configmaps',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'warned' } }),
    });
    assert.match(answer.headers['warning'] ?? '', /mind the gap/);
  });

  it('tells no warnings of a state that somebody else has changed meanwhile', async () => {
    const { metadata } = await make();
    await install(mutating, 'm', [webhook('m')]);
    const target = `/api/v1/namespaces/default/configmaps/${metadata.name}`;
    const patch = (data: object): ReturnType<typeof test.client.send> =>
      test.client.send({
        method: 'PATCH',
        target,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ data }),
      });
    const sayings = ['it was so', '', 'it is so'];
    hooks.set('m', async () => {
      const saying = sayings.shift() ?? '';
      if (saying === 'it was so') await patch({ other: 'quicker' });
      return { allowed: true, warnings: saying === '' ? [] : [saying] };
    });
    assert.equal((await patch({ own: 'slower' })).headers['warning'], '299 - "it is so"');
  });
});
