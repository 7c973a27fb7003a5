import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { User } from '../authentication/user.ts';
import { aggregateRules, needsAggregation } from './aggregation.ts';
import { loadBootstrapPolicy, planBootstrap } from './bootstrap-policy.ts';
import { forbidden } from './forbidden.ts';
import { FixtureViews } from './live-views.fixture.ts';
import { ask, binding, role } from './rbac.fixture.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';

const group = 'rbac.authorization.k8s.io';
const jane: User = { name: 'jane', groups: ['dev', 'system:authenticated'] };

function allowed(rbac: RbacAuthorizer, user: User, text: string): boolean {
  return rbac.authorize(ask(user, text)).decision === 'allow';
}

function setUp(): { views: FixtureViews; rbac: RbacAuthorizer } {
  const views = new FixtureViews();
  return { views, rbac: new RbacAuthorizer(views) };
}

describe('RbacAuthorizer', () => {
  it('matches verbs, groups, resources, subresources, names and paths', () => {
    const { views, rbac } = setUp();
    views.of(group, 'clusterroles').put(
      role('r', [
        { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['update'], apiGroups: ['apps'], resources: ['*/scale'] },
        { verbs: ['*'], apiGroups: ['batch'], resources: ['jobs'], resourceNames: ['one', 'two'] },
        { verbs: ['get'], nonResourceURLs: ['/logs/*', '/version'] },
        { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
      ]),
    );
    views
      .of(group, 'clusterrolebindings')
      .put(binding('b', { to: { kind: 'User', name: 'jane' }, role: 'ClusterRole/r' }));
    const table: Record<string, boolean> = {
      'get pods ns': true,
      'get pods ns any': true,
      'get pods': true,
      'watch pods ns': false,
      'get pods/log ns p': true,
      'get pods/exec ns p': false,
      'update apps:deployments/scale ns d': true,
      'update apps:deployments ns d': false,
      'delete batch:jobs ns one': true,
      'delete batch:jobs ns three': false,
      'list batch:jobs ns': false,
      'get /logs/a/b': true,
      'get /logs': false,
      'get /version': true,
      'post /version': false,
    };
    for (const [question, answer] of Object.entries(table)) {
      for (const round of [1, 2])
        assert.equal(allowed(rbac, jane, question), answer, `${question} (${round})`);
    }
    assert.equal(
      rbac.authorize(ask(jane, 'get pods ns')).reason,
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "jane"',
    );
  });

  it('applies role bindings only in their namespace, with service accounts of that namespace by default', () => {
    const { views, rbac } = setUp();
    views
      .of(group, 'roles')
      .put(role('r', [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }], 'one'));
    views
      .of(group, 'rolebindings')
      .put(binding('b', { to: { kind: 'ServiceAccount', name: 'robot' }, role: 'Role/r', namespace: 'one' }));
    const robot: User = { name: 'system:serviceaccount:one:robot', groups: [] };
    const other: User = { name: 'system:serviceaccount:two:robot', groups: [] };
    assert.deepEqual(
      [
        allowed(rbac, robot, 'get secrets one'),
        allowed(rbac, robot, 'get secrets two'),
        allowed(rbac, robot, 'get secrets'),
        allowed(rbac, other, 'get secrets one'),
      ],
      [true, false, false, false],
    );
    assert.equal(
      rbac.authorize(ask(robot, 'get secrets one x')).reason,
      'RBAC: allowed by RoleBinding "b/one" of Role "r" to ServiceAccount "robot/one"',
    );
  });

  it('follows every change at once', () => {
    const { views, rbac } = setUp();
    const dev = { kind: 'Group', name: 'dev' };
    assert.equal(allowed(rbac, jane, 'get pods ns'), false);
    views.of(group, 'clusterrolebindings').put(binding('b', { to: dev, role: 'ClusterRole/r' }));
    assert.equal(rbac.authorize(ask(jane, 'get pods ns')).reason, `RBAC: clusterrole.${group} "r" not found`);
    views
      .of(group, 'clusterroles')
      .put(role('r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]));
    assert.equal(allowed(rbac, jane, 'get pods ns'), true);
    views
      .of(group, 'clusterrolebindings')
      .put(binding('b', { to: { kind: 'Group', name: 'ops' }, role: 'ClusterRole/r' }));
    assert.equal(allowed(rbac, jane, 'get pods ns'), false);
    views.of(group, 'clusterrolebindings').put(binding('b', { to: dev, role: 'ClusterRole/r' }));
    views.of(group, 'clusterroles').remove('', 'r');
    assert.equal(allowed(rbac, jane, 'get pods ns'), false);
  });

  it('knows what was there before it, whatever changes first', () => {
    const views = new FixtureViews();
    const dev = { kind: 'Group', name: 'dev' };
    views
      .of(group, 'clusterroles')
      .put(role('r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]));
    views.of(group, 'clusterrolebindings').put(binding('early', { to: dev, role: 'ClusterRole/r' }));
    const rbac = new RbacAuthorizer(views);
    const ops = { kind: 'Group', name: 'ops' };
    views.of(group, 'clusterrolebindings').put(binding('late', { to: ops, role: 'ClusterRole/r' }));
    assert.equal(allowed(rbac, jane, 'get pods ns'), true);
    assert.equal(allowed(rbac, { name: 'o', groups: ['ops'] }, 'get pods ns'), true);
    rbac.dispose();
    views.of(group, 'clusterrolebindings').remove('', 'early');
    assert.equal(allowed(rbac, jane, 'get pods ns'), false);
  });

  it('does not mix up questions whose texts join to the same key', () => {
    const { views, rbac } = setUp();
    views
      .of(group, 'clusterroles')
      .put(role('r', [{ verbs: ['get'], apiGroups: ['a b'], resources: ['c'] }]));
    views
      .of(group, 'clusterrolebindings')
      .put(binding('b', { to: { kind: 'User', name: 'jane' }, role: 'ClusterRole/r' }));
    const question = {
      isResource: true,
      user: jane,
      version: '',
      subresource: '',
      namespace: '',
      name: '',
    } as const;
    const first = rbac.authorize({ ...question, verb: 'get', group: 'a b', resource: 'c' });
    const second = rbac.authorize({ ...question, verb: 'get', group: 'a', resource: 'b c' });
    assert.deepEqual([first.decision, second.decision], ['allow', 'no-opinion']);
  });

  it('survives malformed objects', () => {
    const { views, rbac } = setUp();
    views
      .of(group, 'clusterroles')
      .put({ metadata: { name: 'r' }, rules: [null, 7, { verbs: 'get', resources: [1] }] });
    views
      .of(group, 'clusterrolebindings')
      .put({ metadata: { name: 'b' }, roleRef: null, subjects: [null, { kind: 'User' }] });
    views
      .of(group, 'clusterrolebindings')
      .put(binding('c', { to: { kind: 'User', name: 'jane' }, role: 'Nothing/r' }));
    assert.equal(allowed(rbac, jane, 'get pods ns'), false);
  });
});

describe('default roles', () => {
  it('grant what view, edit and admin are known for, and no more', async () => {
    const { views, rbac } = setUp();
    const policy = await loadBootstrapPolicy();
    for (const write of planBootstrap(policy, views)) views.of(group, write.resource).put(write.object);
    for (const name of ['view', 'edit', 'admin', 'cluster-admin']) {
      views
        .of(group, 'rolebindings')
        .put(binding(name, { to: { kind: 'User', name }, role: `ClusterRole/${name}`, namespace: 'ns' }));
    }
    const who = ['view', 'edit', 'admin', 'cluster-admin'];
    const table: Record<string, string> = {
      'list pods ns': 'view edit admin cluster-admin',
      'get secrets ns s': 'edit admin cluster-admin',
      'create pods ns': 'edit admin cluster-admin',
      'create pods/exec ns p': 'edit admin cluster-admin',
      'get pods/log ns p': 'view edit admin cluster-admin',
      'delete apps:deployments ns d': 'edit admin cluster-admin',
      'patch apps:deployments/scale ns d': 'edit admin cluster-admin',
      'get apps:deployments ns d': 'view edit admin cluster-admin',
      'impersonate serviceaccounts ns s': 'edit admin cluster-admin',
      [`create ${group}:rolebindings ns`]: 'admin cluster-admin',
      [`get ${group}:roles ns`]: 'admin cluster-admin',
      'create authorization.k8s.io:localsubjectaccessreviews ns': 'admin cluster-admin',
      'update resourcequotas ns q': 'cluster-admin',
      'get resourcequotas ns q': 'view edit admin cluster-admin',
      'create events.k8s.io:events ns': 'edit admin cluster-admin',
      'delete namespaces ns ns': 'cluster-admin',
      'list pods other': '',
      'list nodes': '',
      'get widgets.example.com:widgets ns': 'cluster-admin',
    };
    for (const [question, expected] of Object.entries(table)) {
      const users = who.filter((name) => allowed(rbac, { name, groups: [] }, question));
      assert.equal(users.join(' '), expected, question);
    }
    const everyone: User = { name: 'x', groups: ['system:authenticated'] };
    const nobody: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
    assert.deepEqual(
      [
        'get /api',
        'get /apis/apps/v1',
        'get /openapi/v3',
        'get /version',
        'get /metrics',
        'create authorization.k8s.io:selfsubjectaccessreviews',
      ].map((question) => [allowed(rbac, everyone, question), allowed(rbac, nobody, question)]),
      [
        [true, false],
        [true, false],
        [true, false],
        [true, true],
        [false, false],
        [true, false],
      ],
    );
  });

  it('are written once, keep additions, and respect autoupdate=false', async () => {
    const views = new FixtureViews();
    const policy = await loadBootstrapPolicy();
    const first = planBootstrap(policy, views);
    assert.equal(first.length, 133);
    for (const write of first) views.of(group, write.resource).put(write.object);
    assert.deepEqual(planBootstrap(policy, views), []);

    const roles = views.of(group, 'clusterroles');
    const basic = roles.get('', 'system:basic-user')!;
    const extra = { verbs: ['get'], apiGroups: ['x'], resources: ['y'] };
    roles.put({ ...basic, rules: [extra] });
    const bindings = views.of(group, 'clusterrolebindings');
    bindings.put({
      ...bindings.get('', 'cluster-admin')!,
      subjects: [{ kind: 'User', name: 'root', apiGroup: group }],
    });
    const discovery = bindings.get('', 'system:discovery')!;
    bindings.put({
      ...discovery,
      metadata: { ...discovery.metadata, uid: 'u1' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'other' },
    });
    const frozen = roles.get('', 'system:discovery')!;
    roles.put({
      ...frozen,
      metadata: {
        ...frozen.metadata,
        annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' },
      },
      rules: [],
    });

    const second = planBootstrap(policy, views);
    assert.deepEqual(
      second.map((write) => [write.operation, write.object.metadata.name, write.oldUid]),
      [
        ['update', 'system:basic-user', undefined],
        ['update', 'cluster-admin', undefined],
        ['recreate', 'system:discovery', 'u1'],
      ],
    );
    assert.deepEqual((second[0]!.object['rules'] as unknown[])[0], extra);
    assert.equal((second[1]!.object['subjects'] as unknown[]).length, 2);
    for (const write of second) views.of(group, write.resource).put(write.object);
    assert.deepEqual(planBootstrap(policy, views), []);
  });
});

describe('aggregateRules', () => {
  it('joins the rules of matching roles once, by name', () => {
    const rule = (name: string) => ({ verbs: ['get'], apiGroups: [name], resources: ['*'] });
    const target = {
      ...role('t', []),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { agg: 'yes' } }] },
    };
    const source = (name: string, ...rules: unknown[]) => ({
      ...role(name, rules),
      metadata: { name, labels: { agg: 'yes' } },
    });
    const roles = [source('z', rule('z'), rule('a')), source('a', rule('a')), role('n', [rule('n')]), target];
    assert.deepEqual(aggregateRules(target, roles), [rule('a'), rule('z')]);
    assert.equal(needsAggregation(target, roles), true);
    assert.equal(aggregateRules(role('plain', []), roles), undefined);
  });
});

describe('forbidden', () => {
  it('words refusals as upstream does', () => {
    const message = (text: string, user = jane) => forbidden(ask(user, text), '').message;
    assert.deepEqual(
      [
        message('list pods n'),
        message('list pods'),
        message('get configmaps n x'),
        message('get apps:deployments/scale n x'),
        message('get /metrics'),
        message('list pods n', { name: '<b>', groups: [] }),
      ],
      [
        'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "n"',
        'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope',
        'configmaps "x" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "n"',
        'deployments.apps "x" is forbidden: User "jane" cannot get resource "deployments/scale" in API group "apps" in the namespace "n"',
        'forbidden: User "jane" cannot get path "/metrics"',
        'pods is forbidden: User "&lt;b&gt;" cannot list resource "pods" in API group "" in the namespace "n"',
      ],
    );
    assert.deepEqual(forbidden(ask(jane, 'get /metrics'), 'because').toStatus(), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'forbidden: User "jane" cannot get path "/metrics": because',
      reason: 'Forbidden',
      details: {},
      code: 403,
    });
  });
});
