import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FixtureViews } from '../authorization/live-views.fixture.ts';
import { ask, binding, role } from '../authorization/rbac.fixture.ts';
import { RbacAuthorizer } from '../authorization/rbac-authorizer.ts';
import { rbacGroup } from '../authorization/rbac-index.ts';
import { resolveImpersonation } from './impersonation.ts';
import type { Credentials, User } from './user.ts';

const jane: User = { name: 'jane', groups: [] };

function setUp(...rules: unknown[]) {
  const views = new FixtureViews();
  views.of(rbacGroup, 'clusterroles').put(role('r', rules));
  views
    .of(rbacGroup, 'clusterrolebindings')
    .put(binding('b', { to: { kind: 'User', name: 'jane' }, role: 'ClusterRole/r' }));
  const authorizer = new RbacAuthorizer(views);
  return (headers: Credentials['headers'], user = jane, what = 'list pods ns') =>
    resolveImpersonation({ attributes: ask(user, what), headers, authorizer });
}

const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const plain = {
  verbs: ['impersonate'],
  apiGroups: ['', 'authentication.k8s.io'],
  resources: ['*', 'userextras/acme.io/k'],
};

describe('resolveImpersonation', () => {
  it('passes requests without such headers', async () => {
    assert.equal(await setUp()({ 'x-other': 'y' }), undefined);
    assert.equal(await setUp()({ 'impersonate-user': '' }), undefined);
  });

  it('takes on users, groups, uid and extra by the plain verb', async () => {
    const run = setUp(plain);
    const headers = {
      'impersonate-user': 'bob',
      'impersonate-group': ['a', 'b'],
      'impersonate-uid': '7',
      'impersonate-extra-acme.io%2fk': ['v', 'w'],
    };
    const result = await run(headers);
    assert.deepEqual(
      { ...result, user: { ...result!.user, extra: { ...result!.user.extra } } },
      {
        constraint: '',
        user: {
          name: 'bob',
          uid: '7',
          groups: ['a', 'b', 'system:authenticated'],
          extra: { 'acme.io/k': ['v', 'w'] },
        },
      },
    );
  });

  it('knows the groups of service accounts, and anonymous', async () => {
    const run = setUp(plain);
    const groups = async (headers: Credentials['headers']) => (await run(headers))?.user.groups;
    assert.deepEqual(await groups({ 'impersonate-user': 'system:serviceaccount:ns:sa' }), [
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
    assert.deepEqual(
      await groups({ 'impersonate-user': 'system:serviceaccount:ns:sa', 'impersonate-group': 'g' }),
      ['g', 'system:authenticated'],
    );
    assert.deepEqual(await groups({ 'impersonate-user': 'system:anonymous' }), ['system:unauthenticated']);
    assert.deepEqual(
      await groups({ 'impersonate-user': 'x', 'impersonate-group': 'system:unauthenticated' }),
      ['system:unauthenticated'],
    );
  });

  it('prefers constrained modes', async () => {
    const run = setUp(everything);
    const constraint = async (name: string, user = jane) =>
      (await run({ 'impersonate-user': name }, user))?.constraint;
    const result = await run({ 'impersonate-user': 'system:node:n1' });
    assert.deepEqual(result, {
      constraint: 'impersonate:arbitrary-node',
      user: { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] },
    });
    assert.equal(await constraint('system:serviceaccount:ns:sa'), 'impersonate:serviceaccount');
    assert.equal(await constraint('bob'), 'impersonate:user-info');
    assert.equal(
      (await run({ 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }))?.constraint,
      '',
    );
  });

  it('limits a constrained mode to the verbs given for it', async () => {
    const authentication = 'authentication.k8s.io';
    const run = setUp(
      {
        verbs: ['impersonate:user-info'],
        apiGroups: [authentication],
        resources: ['users'],
        resourceNames: ['bob'],
      },
      { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['pods'] },
    );
    assert.equal((await run({ 'impersonate-user': 'bob' }))?.constraint, 'impersonate:user-info');
    await assert.rejects(run({ 'impersonate-user': 'bob' }, jane, 'get secrets ns s'), {
      code: 403,
      message:
        'secrets "s" is forbidden: User "jane" cannot impersonate-on:user-info:get resource "secrets" in API group "" in the namespace "ns"',
    });
    await assert.rejects(run({ 'impersonate-user': 'eve' }), {
      message:
        'users.authentication.k8s.io "eve" is forbidden: User "jane" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
    });
    await assert.rejects(run({ 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }), {
      message:
        'groups.authentication.k8s.io "system:masters" is forbidden: User "jane" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
    });
  });

  it('lets a pod act as its own node only if it may', async () => {
    const agent: User = {
      name: 'system:serviceaccount:ns:agent',
      groups: [],
      extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
    };
    const views = new FixtureViews();
    views.of(rbacGroup, 'clusterroles').put(
      role('r', [
        {
          verbs: ['impersonate:associated-node'],
          apiGroups: ['authentication.k8s.io'],
          resources: ['nodes'],
        },
        { verbs: ['impersonate-on:associated-node:list'], apiGroups: [''], resources: ['pods'] },
      ]),
    );
    views
      .of(rbacGroup, 'clusterrolebindings')
      .put(binding('b', { to: { kind: 'User', name: agent.name }, role: 'ClusterRole/r' }));
    const authorizer = new RbacAuthorizer(views);
    const run = (name: string) =>
      resolveImpersonation({
        attributes: ask(agent, 'list pods ns'),
        headers: { 'impersonate-user': name },
        authorizer,
      });
    assert.equal((await run('system:node:n1'))?.constraint, 'impersonate:associated-node');
    await assert.rejects(run('system:node:n2'), { code: 403 });
  });

  it('refuses parts without a user', async () => {
    await assert.rejects(setUp(everything)({ 'impersonate-group': 'g' }), {
      code: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name',
    });
  });
});
