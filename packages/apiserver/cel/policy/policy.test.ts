import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationAttributes, AuthorizationDecision } from '../../authorization/attributes.ts';
import { boolType, stringType } from '../checker/type.ts';
import type { Outcome } from '../expression.ts';
import { describeValue } from '../testing/describe-value.ts';
import { toJson } from '../values/to-json.ts';
import { AuthorizationMemory } from './pending-authorizer.ts';
import { PolicyEnvironment } from './policy-environment.ts';
import { type PolicyInput, PolicyRun } from './policy-run.ts';
import { applyObjectType } from './policy-types.ts';

const input: PolicyInput = {
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { app: 'web' } },
    spec: { replicas: 3, ratio: 1.5 },
  },
  oldObject: undefined,
  request: {
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    operation: 'CREATE',
    namespace: 'n',
    name: 'p',
    userInfo: { username: 'jane', groups: ['dev'] },
  },
  params: { max: 5 },
  namespaceObject: {
    metadata: { name: 'n', labels: { env: 'prod' }, creationTimestamp: '2020-01-01T00:00:00Z' },
  },
};

function policy(): PolicyEnvironment {
  return new PolicyEnvironment({ hasParams: true, hasAuthorizer: true, isPolicy: true });
}

function show(outcome: Outcome): string {
  return outcome.ok ? describeValue(outcome.value) : `fails: ${outcome.message}`;
}

function evaluate(source: string, given: PolicyInput = input): string {
  const environment = policy();
  environment.addVariable('replicas', 'object.spec.replicas');
  environment.addVariable('double', 'variables.replicas * 2');
  environment.addVariable('broken', 'object.spec.none');
  const { compiled, error } = environment.compile(source);
  if (!compiled) return `wrong: ${error.split('\n')[0]}`;
  return show(new PolicyRun(given, environment.variables).run(compiled));
}

test('the variables of a policy', () => {
  const rows = [
    ['object.spec.replicas <= params.max', 'true'],
    ['object.spec.ratio > 1', 'true'],
    ["object.metadata.labels['app'] == 'web'", 'true'],
    ['has(object.spec.none)', 'false'],
    ['object.spec.none', 'fails: no such key: none'],
    ['oldObject == null', 'true'],
    ["request.operation == 'CREATE'", 'true'],
    ["request.userInfo.groups.exists(g, g == 'dev')", 'true'],
    ['request.kind.kind == object.kind', 'true'],
    ['request.none', "wrong: compilation failed: ERROR: <input>:1:8: undefined field 'none'"],
    ["namespaceObject.metadata.labels.env == 'prod'", 'true'],
    ['namespaceObject.metadata.creationTimestamp.getFullYear()', '2020'],
    ['variables.double', '6'],
    ['variables.double == variables.replicas + variables.replicas', 'true'],
    ['variables.broken', 'fails: composited variable "broken" fails to evaluate: no such key: none'],
    ['variables.broken == 1 || true', 'true'],
    ['variables.none', "wrong: compilation failed: ERROR: <input>:1:10: undefined field 'none'"],
    [
      'self',
      "wrong: compilation failed: ERROR: <input>:1:1: undeclared reference to 'self' (in container '')",
    ],
    [
      'Object{}',
      "wrong: compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')",
    ],
  ] as const;
  assert.deepEqual(
    rows.map(([source]) => [source, evaluate(source)]),
    rows,
  );
});

test('result types, and names that only some environments have', () => {
  const conditions = new PolicyEnvironment({ hasAuthorizer: true });
  assert.equal(conditions.compile("object.kind == 'x'", [boolType]).error, undefined);
  assert.equal(conditions.compile('1', [boolType]).error, 'must evaluate to bool but got int');
  assert.equal(conditions.compile('object.x', [boolType]).error, 'must evaluate to bool but got dyn');
  assert.equal(
    conditions.compile('1', [boolType, stringType]).error,
    'must evaluate to one of [bool string] but got int',
  );
  assert.match(conditions.compile('params.x').error ?? '', /undeclared reference to 'params'/);
  assert.match(conditions.compile('variables.x').error ?? '', /undeclared reference to 'variables'/);
});

test('a variable is computed once, and its cost counts', () => {
  const environment = policy();
  environment.addVariable('big', 'lists.range(100000)');
  const { compiled } = environment.compile('variables.big.size() + variables.big.size()');
  assert.ok(compiled);
  const run = new PolicyRun(input, environment.variables);
  assert.equal(show(run.run(compiled)), '200000');
  assert.ok(run.remaining < 9_900_000 && run.remaining > 9_800_000);
  const poor = new PolicyRun(input, environment.variables, 1000);
  assert.match(show(poor.run(compiled)), /cost/);
  assert.ok(poor.remaining < 0);
});

test('mutations', () => {
  const environment = new PolicyEnvironment({ isPolicy: true, isMutation: true });
  const apply = environment.compile(
    'Object{spec: Object.spec{replicas: 3, items: [Object.spec.items{name: "a"}]}}',
    [applyObjectType],
  );
  assert.ok(apply.compiled);
  const applied = new PolicyRun(input, []).run(apply.compiled);
  assert.ok(applied.ok);
  assert.deepEqual(toJson(applied.value), { spec: { replicas: 3, items: [{ name: 'a' }] } });
  const patch = environment.compile(
    '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b~c"), value: {"x": 1}}]',
  );
  assert.ok(patch.compiled);
  const patched = new PolicyRun(input, []).run(patch.compiled);
  assert.ok(patched.ok);
  assert.deepEqual(toJson(patched.value), [{ op: 'add', path: '/metadata/labels/a~1b~0c', value: { x: 1 } }]);
  assert.match(environment.compile('JSONPatch{operation: "add"}').error ?? '', /undefined field 'operation'/);
  assert.match(
    environment.compile('JSONPatch{op: 1}').error ?? '',
    /expected type of field 'op' is 'string' but provided type is 'int'/,
  );
});

test('the authorizer is asked once per question, and may take its time', async () => {
  const asked: AuthorizationAttributes[] = [];
  const memory = new AuthorizationMemory({
    authorize: (attributes): Promise<AuthorizationDecision> => {
      asked.push(attributes);
      return Promise.resolve({
        decision: attributes.user.name === 'jane' ? 'allow' : 'deny',
        reason: 'because',
      });
    },
  });
  const source = `authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('d').check('update').allowed()
    && authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('d').check('update').reason() == 'because'
    || !authorizer.path('/x').check('get').allowed()`;
  const environment = policy();
  const { compiled } = environment.compile(source);
  assert.ok(compiled);
  const given = { ...input, authorizer: { source: memory, user: { name: 'jane', groups: [] } } };
  const outcome = await memory.settle(() => new PolicyRun(given, []).run(compiled));
  assert.equal(show(outcome), 'true');
  assert.deepEqual(asked, [
    {
      isResource: true,
      user: { name: 'jane', groups: [] },
      verb: 'update',
      version: '*',
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'n',
      name: 'd',
    },
  ]);
});

test('questions about others, selectors, and the resource of the request', () => {
  const asked: AuthorizationAttributes[] = [];
  const source = {
    decide: (attributes: AuthorizationAttributes): AuthorizationDecision => {
      asked.push(attributes);
      return { decision: 'deny', reason: 'no', evaluationError: 'broken' };
    },
  };
  const given = { ...input, authorizer: { source, user: { name: 'jane', groups: [] } } };
  assert.equal(evaluate("authorizer.requestResource.check('delete').allowed()", given), 'false');
  assert.equal(
    evaluate("authorizer.serviceAccount('n', 'sa').path('/healthz').check('get').errored()", given),
    'true',
  );
  assert.equal(
    evaluate(
      "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=a').labelSelector('app in (a, b),!x,y').check('list').error()",
      given,
    ),
    '"broken"',
  );
  assert.equal(
    evaluate("authorizer.serviceAccount('N', 'sa').path('/').check('get').allowed()", given),
    'fails: Invalid service account namespace',
  );
  const [first, second, third] = asked;
  assert.deepEqual(first, {
    isResource: true,
    user: { name: 'jane', groups: [] },
    verb: 'delete',
    version: '*',
    group: '',
    resource: 'pods',
    subresource: '',
    namespace: 'n',
    name: 'p',
  });
  assert.equal(second?.user.name, 'system:serviceaccount:n:sa');
  assert.deepEqual(third?.isResource && [third.fieldSelector, third.labelSelector], [
    [{ key: 'spec.nodeName', operator: 'In', values: ['a'] }],
    [
      { key: 'app', operator: 'In', values: ['a', 'b'] },
      { key: 'x', operator: 'DoesNotExist', values: [] },
      { key: 'y', operator: 'Exists', values: [] },
    ],
  ]);
});
