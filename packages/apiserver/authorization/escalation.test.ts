import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { AdmissionRequest } from '../admission/plugin.ts';
import type { User } from '../authentication/user.ts';
import { escalationPlugin } from './escalation.ts';
import { FixtureViews } from './live-views.fixture.ts';
import type { PolicyRule } from './policy-rule.ts';
import { binding, role } from './rbac.fixture.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { rbacGroup } from './rbac-index.ts';
import { compactRules, findUncovered } from './rule-coverage.ts';

const jane: User = { name: 'jane', groups: ['dev'] };
const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const writePods = { verbs: ['create', 'delete'], apiGroups: [''], resources: ['pods'] };

function setUp(...held: unknown[]) {
  const views = new FixtureViews();
  views.of(rbacGroup, 'clusterroles').put(role('held', held));
  views.of(rbacGroup, 'clusterroles').put(role('reader', [readPods]));
  views.of(rbacGroup, 'clusterroles').put(role('writer', [readPods, writePods]));
  views
    .of(rbacGroup, 'clusterrolebindings')
    .put(binding('b', { to: { kind: 'User', name: 'jane' }, role: 'ClusterRole/held' }));
  const rbac = new RbacAuthorizer(views);
  const plugin = escalationPlugin({ rbac, authorizer: rbac });
  return async (
    resource: string,
    object: KubeObject,
    more: Partial<AdmissionRequest> = {},
  ): Promise<string> => {
    const request: AdmissionRequest = {
      operation: 'CREATE',
      kind: { group: rbacGroup, version: 'v1', kind: object.kind ?? '' },
      resource: { group: rbacGroup, version: 'v1', resource },
      subresource: '',
      namespaced: object.metadata.namespace !== undefined,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name ?? '',
      object,
      oldObject: undefined,
      options: {},
      dryRun: false,
      user: jane,
      warn() {},
      annotate() {},
      signal: new AbortController().signal,
      onEnd() {},
      ...more,
    };
    assert.equal(plugin.handles(request), true);
    try {
      await plugin.validate?.(request);
      return 'ok';
    } catch (error) {
      assert.ok(StatusError.is(error), String(error));
      return `${error.code} ${error.message}`;
    }
  };
}

const missing = 'user "jane" (groups=["dev"]) is attempting to grant RBAC permissions not currently held:\n';
const toBob = (name: string, ref: string, namespace?: string) =>
  binding(name, {
    to: { kind: 'User', name: 'bob' },
    role: ref,
    ...(namespace !== undefined && { namespace }),
  });

describe('checkEscalation', () => {
  it('lets writers give what they hold and lists what they lack', async () => {
    const write = setUp(readPods);
    assert.equal(await write('clusterroles', role('r', [readPods])), 'ok');
    assert.equal(await write('roles', role('r', [{ ...readPods, resourceNames: ['one'] }], 'ns')), 'ok');
    assert.equal(
      await write(
        'clusterroles',
        role('r', [readPods, writePods, { verbs: ['get'], nonResourceURLs: ['/metrics'] }]),
      ),
      `403 clusterroles.rbac.authorization.k8s.io "r" is forbidden: ${missing}{APIGroups:[""], Resources:["pods"], Verbs:["create" "delete"]}\n{NonResourceURLs:["/metrics"], Verbs:["get"]}`,
    );
    assert.match(
      await write('roles', role('r', [{ verbs: ['*'], apiGroups: [''], resources: ['pods'] }], 'ns')),
      /Verbs:\["\*"\]/,
    );
    assert.equal(
      await write('clusterroles', role('r', [writePods]), {
        user: { name: 'root', groups: ['system:masters'] },
      }),
      'ok',
    );
  });

  it('checks bindings by the role they refer to', async () => {
    const write = setUp(readPods);
    assert.equal(await write('clusterrolebindings', toBob('x', 'ClusterRole/reader')), 'ok');
    assert.equal(await write('rolebindings', toBob('x', 'ClusterRole/reader', 'ns')), 'ok');
    assert.equal(
      await write('rolebindings', toBob('x', 'ClusterRole/writer', 'ns')),
      `403 rolebindings.rbac.authorization.k8s.io "x" is forbidden: ${missing}{APIGroups:[""], Resources:["pods"], Verbs:["create" "delete"]}`,
    );
    assert.equal(
      await write('clusterrolebindings', toBob('x', 'ClusterRole/gone')),
      '404 clusterroles.rbac.authorization.k8s.io "gone" not found',
    );
    assert.equal(
      await write('rolebindings', toBob('x', 'Role/gone', 'ns')),
      '404 roles.rbac.authorization.k8s.io "gone" not found',
    );
    assert.match(
      await write('rolebindings', toBob('x', 'Thing/gone', 'ns')),
      /^400 unsupported role reference kind: "Thing"/,
    );
  });

  it('honours the verbs escalate and bind', async () => {
    const escalate = setUp({ verbs: ['escalate'], apiGroups: [rbacGroup], resources: ['clusterroles'] });
    assert.equal(await escalate('clusterroles', role('r', [writePods])), 'ok');
    assert.match(await escalate('roles', role('r', [writePods], 'ns')), /^403/);
    const bind = setUp({
      verbs: ['bind'],
      apiGroups: [rbacGroup],
      resources: ['clusterroles'],
      resourceNames: ['writer'],
    });
    assert.equal(await bind('rolebindings', toBob('x', 'ClusterRole/writer', 'ns')), 'ok');
    assert.match(await bind('rolebindings', toBob('x', 'ClusterRole/reader', 'ns')), /^403/);
    assert.equal(
      await bind('clusterrolebindings', toBob('x', 'ClusterRole/gone')),
      '404 clusterroles.rbac.authorization.k8s.io "gone" not found',
    );
  });

  it('lets only administrators aggregate', async () => {
    const aggregated = { ...role('r', []), aggregationRule: { clusterRoleSelectors: [{}] } };
    const text =
      '403 clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule';
    const write = setUp(readPods);
    assert.equal(await write('clusterroles', aggregated), text);
    assert.equal(
      await write('clusterroles', role('r', []), { operation: 'UPDATE', oldObject: aggregated }),
      text,
    );
    const all = setUp(
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    );
    assert.equal(await all('clusterroles', aggregated), 'ok');
  });

  it('does not take vast rules apart', async () => {
    const many = (letter: string) => Array.from({ length: 300 }, (_, index) => `${letter}${index}`);
    const vast = role('r', [
      { verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') },
    ]);
    assert.match(await setUp()('clusterroles', vast), /^403 .* the rules are 8100000000 combinations/);
    assert.equal(
      await setUp({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })('clusterroles', vast),
      'ok',
    );
  });

  it('lets the garbage collector strip owners and finalizers', async () => {
    const write = setUp();
    const old = {
      ...role('r', [writePods]),
      metadata: { name: 'r', finalizers: ['x/y'], ownerReferences: [] },
    };
    assert.equal(
      await write('clusterroles', role('r', [writePods]), { operation: 'UPDATE', oldObject: old }),
      'ok',
    );
    const changed = { ...role('r', [writePods]), metadata: { name: 'r', labels: { a: 'b' } } };
    assert.match(await write('clusterroles', changed, { operation: 'UPDATE', oldObject: old }), /^403/);
  });
});

describe('findUncovered', () => {
  it('decides by verb, group, resource, name and path', () => {
    const rule = (part: Partial<PolicyRule>): PolicyRule => ({
      verbs: ['get'],
      apiGroups: [],
      resources: [],
      resourceNames: [],
      nonResourceURLs: [],
      ...part,
    });
    const pods = rule({ apiGroups: [''], resources: ['pods'] });
    const table: [PolicyRule, PolicyRule, boolean][] = [
      [pods, pods, true],
      [rule({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }), pods, true],
      [pods, rule({ apiGroups: ['*'], resources: ['pods'] }), false],
      [rule({ ...pods, resourceNames: ['a'] }), pods, false],
      [pods, rule({ ...pods, resourceNames: ['a'] }), true],
      [rule({ ...pods, resourceNames: ['a', 'b'] }), rule({ ...pods, resourceNames: ['a'] }), true],
      [
        rule({ apiGroups: [''], resources: ['*/scale'] }),
        rule({ apiGroups: [''], resources: ['pods/scale'] }),
        true,
      ],
      [rule({ apiGroups: [''], resources: ['*/scale'] }), pods, false],
      [
        rule({ apiGroups: [''], resources: ['pods'] }),
        rule({ apiGroups: [''], resources: ['pods/log'] }),
        false,
      ],
      [rule({ nonResourceURLs: ['/a/*'] }), rule({ nonResourceURLs: ['/a/b', '/a/b/*'] }), true],
      [rule({ nonResourceURLs: ['/a'] }), rule({ nonResourceURLs: ['/a/*'] }), false],
      [rule({ nonResourceURLs: ['*'] }), rule({ nonResourceURLs: ['*'] }), true],
    ];
    for (const [held, wanted, isCovered] of table) {
      assert.equal(findUncovered([held], [wanted]).length === 0, isCovered, JSON.stringify([held, wanted]));
    }
    const atoms = findUncovered(
      [],
      [rule({ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'], resourceNames: ['a', 'b'] })],
    );
    assert.equal(atoms.length, 4);
    assert.deepEqual(
      compactRules(atoms).map((item) => [item.resourceNames, item.verbs]),
      [
        [['a'], ['get', 'list']],
        [['b'], ['get', 'list']],
      ],
    );
  });
});
