import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { TestServer } from '@sheaf/testkit';
import {
  type Fields,
  kinds,
  named,
  outcome,
  resource,
  startAdmissionServer,
} from './admission-server.fixture.ts';

const group = 'admissionregistration.k8s.io';
const validating = resource(`validatingadmissionpolicies.${group}`, 'ValidatingAdmissionPolicy', false);
const validatingBindings = resource(
  `validatingadmissionpolicybindings.${group}`,
  'ValidatingAdmissionPolicyBinding',
  false,
);
const mutating = resource(`mutatingadmissionpolicies.${group}`, 'MutatingAdmissionPolicy', false);
const mutatingBindings = resource(
  `mutatingadmissionpolicybindings.${group}`,
  'MutatingAdmissionPolicyBinding',
  false,
);
const all = [validating, validatingBindings, mutating, mutatingBindings];
const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
};

let test: TestServer;
let serial = 0;

before(async () => (test = await startAdmissionServer()));
after(() => test.close());
beforeEach(async () => {
  for (const kind of all) {
    for (const { metadata } of (await test.client.list(kind)).items)
      await test.client.delete(kind, { name: metadata.name ?? '' });
  }
});

const make = (data: Fields = { x: '0' }, metadata: Fields = {}): Promise<KubeObject> =>
  test.client.create(kinds.configMaps, {
    metadata: { name: `c${serial++}`, namespace: 'default', ...metadata },
    data,
  });

describe('ValidatingAdmissionPolicy', () => {
  async function install(spec: Fields, binding: Fields = {}): Promise<void> {
    await test.client.create(validating, { metadata: { name: 'p' }, spec: { matchConstraints, ...spec } });
    await test.client.create(validatingBindings, {
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
    });
  }
  const refused = (message: string): RegExp =>
    new RegExp(
      `^422 configmaps "c\\d+" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`,
    );

  it('refuses with the message it has', async () => {
    const expression = "object.data.x != 'bad'";
    await install({ validations: [{ expression }] });
    assert.equal(await outcome(make()), 'ok');
    assert.match(await outcome(make({ x: 'bad' })), refused(`failed expression: ${expression}`));
    await assert.rejects(make({ x: 'bad' }), (error: unknown) => {
      assert.ok(StatusError.is(error, 'Invalid'));
      assert.equal(error.details?.kind, 'configmaps');
      assert.equal(error.details.causes?.length, 1);
      return true;
    });
  });

  it('takes messages, reasons, variables and annotations from the policy', async () => {
    await install({
      variables: [{ name: 'x', expression: "object.data[?'x'].orValue('none')" }],
      validations: [
        {
          expression: "variables.x != 'bad'",
          message: 'static',
          messageExpression: "'x is ' + variables.x",
          reason: 'Forbidden',
        },
      ],
      auditAnnotations: [{ key: 'x', valueExpression: 'variables.x' }],
    });
    assert.match(await outcome(make({ x: 'bad' })), /^403 .* denied request: x is bad$/);
  });

  it('is in force by its binding alone, and only warns if that says so', async () => {
    await install(
      { validations: [{ expression: 'false', message: 'no' }] },
      { validationActions: ['Warn', 'Audit'] },
    );
    const answer = await test.client.send({
      method: 'POST',
      target: '/api/v1/namespaces/default/configmaps',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: `c${serial++}` } }),
    });
    assert.equal(answer.status, 201);
    assert.match(
      answer.headers['warning'] ?? '',
      /Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no/,
    );
    await test.client.delete(validatingBindings, { name: 'b' });
    assert.equal(await outcome(make()), 'ok');
  });

  it('refuses when an expression fails, unless failures are ignored', async () => {
    const validations = [{ expression: "object.spec.x == 'a'" }];
    await install({ validations });
    assert.match(
      await outcome(make()),
      refused("expression 'object.spec.x == 'a'' resulted in error: no such key: spec"),
    );
    await test.client.delete(validating, { name: 'p' });
    await test.client.create(validating, {
      metadata: { name: 'p' },
      spec: { matchConstraints, validations, failurePolicy: 'Ignore' },
    });
    assert.equal(await outcome(make()), 'ok');
  });

  it('evaluates with parameters, by name or labels', async () => {
    const validations = [{ expression: 'object.data.x != params.data.forbidden' }];
    await test.client.create(kinds.configMaps, named('limits', { data: { forbidden: 'bad' } }));
    await install(
      { validations, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
    );
    assert.equal(await outcome(make()), 'ok');
    assert.match(
      await outcome(make({ x: 'bad' })),
      refused('failed expression: object.data.x != params.data.forbidden'),
    );
    await test.client.patch(
      validatingBindings,
      { name: 'b' },
      { type: 'merge', body: { spec: { paramRef: { name: 'gone' } } } },
    );
    assert.match(
      await outcome(make()),
      refused(
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      ),
    );
    await test.client
      .delete(kinds.configMaps, { namespace: 'default', name: 'limits' })
      .catch(() => undefined);
  });

  it('names a parameter kind that is not served', async () => {
    await install({
      validations: [{ expression: 'true' }],
      paramKind: { apiVersion: 'x.example.com/v1', kind: 'Ghost' },
    });
    assert.match(
      await outcome(make()),
      /^422 .*ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x\.example\.com\/v1, Kind=Ghost'$/,
    );
  });

  it('asks conditions, namespaces and the authorizer', async () => {
    await install({
      matchConditions: [{ name: 'not-me', expression: "request.userInfo.username == 'jane'" }],
      validations: [{ expression: 'false' }],
    });
    assert.equal(await outcome(make()), 'ok');
    await test.client.delete(validating, { name: 'p' });
    await test.client.create(validating, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints,
        validations: [
          {
            expression:
              "namespaceObject.metadata.name == 'default' && authorizer.requestResource.check('create').allowed()",
          },
        ],
      },
    });
    assert.equal(await outcome(make()), 'ok');
  });

  it('refuses expressions that cannot be compiled', async () => {
    const text = await outcome(
      install({ validations: [{ expression: 'nope == 1' }, { expression: "'text'" }] }),
    );
    assert.match(
      text,
      /^422 ValidatingAdmissionPolicy\.admissionregistration\.k8s\.io "p" is invalid: \[spec\.validations\[0\]\.expression: Invalid value: "nope == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope'/,
    );
    assert.match(text, /spec\.validations\[1\]\.expression: Invalid value: "'text'": must evaluate to bool/);
  });
});

describe('MutatingAdmissionPolicy', () => {
  async function install(mutations: Fields[], more: Fields = {}): Promise<void> {
    await test.client.create(mutating, {
      metadata: { name: 'm' },
      spec: { matchConstraints, reinvocationPolicy: 'Never', failurePolicy: 'Fail', mutations, ...more },
    });
    await test.client.create(mutatingBindings, { metadata: { name: 'b' }, spec: { policyName: 'm' } });
  }
  const apply = (expression: string): Fields => ({
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression },
  });
  const patch = (expression: string): Fields => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

  it('merges what an expression gives', async () => {
    await install([apply('Object{metadata: Object.metadata{labels: {"team": "a"}}, data: {"y": "1"}}')]);
    const made = await make();
    assert.deepEqual(made.metadata.labels, { team: 'a' });
    assert.deepEqual(made['data'], { x: '0', y: '1' });
    assert.doesNotMatch(JSON.stringify(made.metadata.managedFields), /f:team/);
  });

  it('applies JSON patches, one mutation after the other', async () => {
    await install([
      patch('[JSONPatch{op: "add", path: "/data/y", value: "1"}]'),
      patch('[JSONPatch{op: "copy", from: "/data/y", path: "/data/z"}]'),
      patch('[JSONPatch{op: "test", path: "/data/y", value: "2"}, JSONPatch{op: "remove", path: "/data/x"}]'),
    ]);
    assert.deepEqual((await make())['data'], { x: '0', y: '1', z: '1' });
  });

  it('says why it cannot', async () => {
    await install([patch('[JSONPatch{op: "replace", path: "/data/a/b", value: object.spec.x}]')]);
    await assert.rejects(make(), (error: unknown) => {
      assert.ok(StatusError.is(error));
      assert.deepEqual([error.code, error.reason], [403, 'Invalid']);
      assert.match(
        error.message,
        /^policy 'm' with binding 'b' denied request: expression .* resulted in error: no such key: spec$/,
      );
      return true;
    });
  });

  it('refuses to touch what can only be replaced as a whole', async () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] };
    await install(
      [apply('Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", args: ["x"]}]}}')],
      {
        matchConstraints: { resourceRules: [rule] },
      },
    );
    const pod = named('p', { spec: { containers: [{ name: 'c', image: 'x:1' }] } });
    assert.match(
      await outcome(test.client.create(kinds.pods, pod)),
      /may not mutate atomic arrays, maps or structs: \.spec\.containers\[0\]\.args$/,
    );
  });

  it('refuses expressions of a wrong type', async () => {
    assert.match(
      await outcome(install([apply('"text"')])),
      /spec\.mutations\[0\]\.applyConfiguration\.expression: Invalid value: "\\"text\\"": must evaluate to Object but got string/,
    );
  });
});
