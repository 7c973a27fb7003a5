import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { reviewAccess, reviewSelfRules } from './access-review.ts';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from './attributes.ts';
import { authorizerUnion, privilegedGroupAuthorizer } from './authorizer-union.ts';
import { FixtureViews } from './live-views.fixture.ts';
import { ask, binding, role } from './rbac.fixture.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { rbacGroup } from './rbac-index.ts';

const jane = { name: 'jane', groups: ['dev'] };

function recording(decision: AuthorizationDecision['decision'] = 'allow') {
  const asked: AuthorizationAttributes[] = [];
  const authorizer: Authorizer = {
    authorize(attributes) {
      asked.push(attributes);
      return { decision, reason: 'because' };
    },
  };
  return { asked, authorizer };
}

describe('reviewAccess', () => {
  const status = async (kind: Parameters<typeof reviewAccess>[0], spec: JsonObject, authorizer: Authorizer) =>
    (await reviewAccess(kind, { metadata: {}, spec }, { authorizer, user: jane }))['status'];

  it('asks about the subject, or about oneself', async () => {
    const { asked, authorizer } = recording();
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'ns', name: 'p' };
    assert.deepEqual(await status('SelfSubjectAccessReview', { resourceAttributes }, authorizer), {
      allowed: true,
      reason: 'because',
    });
    await status(
      'SubjectAccessReview',
      { user: 'bob', groups: ['g'], uid: '7', extra: { k: ['v'] }, resourceAttributes },
      authorizer,
    );
    await status(
      'SubjectAccessReview',
      { groups: ['g'], nonResourceAttributes: { verb: 'get', path: '/x' } },
      authorizer,
    );
    const what = {
      isResource: true,
      verb: 'get',
      group: '',
      version: '*',
      resource: 'pods',
      subresource: '',
      namespace: 'ns',
      name: 'p',
    };
    assert.deepEqual(asked, [
      { ...what, user: jane },
      { ...what, user: { name: 'bob', groups: ['g'], uid: '7', extra: { k: ['v'] } } },
      { isResource: false, user: { name: '', groups: ['g'] }, verb: 'get', path: '/x' },
    ]);
    const denied = recording('deny').authorizer;
    assert.deepEqual(await status('SelfSubjectAccessReview', { resourceAttributes }, denied), {
      allowed: false,
      denied: true,
      reason: 'because',
    });
  });

  it('passes selectors on and says what it ignored', async () => {
    const selectors = async (fieldSelector: JsonObject | undefined, labelSelector?: JsonObject) => {
      const { asked, authorizer } = recording();
      const resourceAttributes: JsonObject = {
        verb: 'list',
        resource: 'pods',
        ...(fieldSelector && { fieldSelector }),
        ...(labelSelector && { labelSelector }),
      };
      const result = (await status(
        'SelfSubjectAccessReview',
        { resourceAttributes },
        authorizer,
      )) as JsonObject;
      const [question] = asked;
      assert.ok(question?.isResource);
      return [question.fieldSelector, question.labelSelector, result['evaluationError']];
    };
    const field = [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }];
    const label = [{ key: 'app', operator: 'In', values: ['web'] }];
    assert.deepEqual(await selectors({ rawSelector: 'spec.nodeName=n1' }, { rawSelector: 'app=web' }), [
      field,
      label,
      undefined,
    ]);
    assert.deepEqual(await selectors({ requirements: field }, { requirements: label }), [
      field,
      label,
      undefined,
    ]);
    assert.deepEqual(await selectors({ rawSelector: 'a=b=c' }), [
      undefined,
      undefined,
      'spec.resourceAttributes.fieldSelector ignored due to parse error',
    ]);
    assert.deepEqual(await selectors({ requirements: [...field, { key: 'x', operator: 'Exists' }] }), [
      field,
      undefined,
      'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
    ]);
    assert.deepEqual(await selectors(undefined, { requirements: [{ key: 'x', operator: 'Novel' }] }), [
      undefined,
      undefined,
      'spec.resourceAttributes.labelSelector ignored due to parse error',
    ]);
    assert.deepEqual((await selectors(undefined, { rawSelector: '!a,b notin (c)' }))[1], [
      { key: 'a', operator: 'DoesNotExist', values: [] },
      { key: 'b', operator: 'NotIn', values: ['c'] },
    ]);
  });

  it('refuses malformed reviews', async () => {
    const { authorizer } = recording();
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'ns' };
    const refusal = async (
      kind: Parameters<typeof reviewAccess>[0],
      review: JsonObject,
      namespace = 'ns',
    ) => {
      try {
        await reviewAccess(kind, { metadata: {}, ...review }, { authorizer, user: jane, namespace });
        return 'ok';
      } catch (error) {
        assert.ok(StatusError.is(error));
        return `${error.code} ${error.message}`;
      }
    };
    assert.equal(
      await refusal('SelfSubjectAccessReview', { spec: {} }),
      '422 SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
    assert.match(
      await refusal('SubjectAccessReview', { spec: { resourceAttributes } }),
      /spec.user: Invalid value: "": at least one of user or group must be specified/,
    );
    assert.match(
      await refusal('SubjectAccessReview', {
        metadata: { name: 'x' },
        spec: { user: 'u', resourceAttributes },
      }),
      /metadata: Invalid value: .*must be empty$/,
    );
    const local = { metadata: { namespace: 'ns' }, spec: { user: 'u', resourceAttributes } };
    assert.equal(await refusal('LocalSubjectAccessReview', local), 'ok');
    assert.match(
      await refusal('LocalSubjectAccessReview', local, 'other'),
      /^400 spec.resourceAttributes.namespace must match namespace: other/,
    );
    assert.match(
      await refusal('LocalSubjectAccessReview', { ...local, metadata: { namespace: 'x' } }),
      /must match metadata.namespace/,
    );
    assert.match(
      await refusal('SelfSubjectAccessReview', {
        spec: { resourceAttributes: { ...resourceAttributes, fieldSelector: {} } },
      }),
      /requirements or rawSelector is required/,
    );
  });

  it('answers or refuses whatever comes in', async () => {
    const { authorizer } = recording();
    await fc.assert(
      fc.asyncProperty(
        fc.object({ maxDepth: 4 }),
        fc.object({ maxDepth: 3 }),
        async (spec, resourceAttributes) => {
          const review = { metadata: {}, spec: { ...spec, resourceAttributes } };
          await reviewAccess('SubjectAccessReview', review, { authorizer, user: jane }).catch(
            (error: unknown) => assert.ok(StatusError.is(error), String(error)),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('reviewSelfRules', () => {
  it('lists what applies in the namespace', () => {
    const views = new FixtureViews();
    views.of(rbacGroup, 'clusterroles').put(
      role('r', [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] },
        { verbs: ['get'], nonResourceURLs: ['/x'] },
      ]),
    );
    views
      .of(rbacGroup, 'rolebindings')
      .put(binding('b', { to: { kind: 'Group', name: 'dev' }, role: 'ClusterRole/r', namespace: 'ns' }));
    views
      .of(rbacGroup, 'rolebindings')
      .put(binding('c', { to: { kind: 'Group', name: 'dev' }, role: 'Role/gone', namespace: 'ns' }));
    const rbac = new RbacAuthorizer(views);
    const review = (namespace: string) =>
      reviewSelfRules({ metadata: {}, spec: { namespace } }, jane, rbac)['status'];
    assert.deepEqual(review('ns'), {
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
      evaluationError: 'role.rbac.authorization.k8s.io "gone" not found',
    });
    assert.deepEqual(review('other'), { resourceRules: [], nonResourceRules: [], incomplete: false });
    assert.throws(() => review(''), { code: 400 });
  });
});

describe('authorizerUnion', () => {
  const fixed = (
    decision: AuthorizationDecision['decision'],
    reason: string,
    isLater = false,
  ): Authorizer => ({
    authorize: () => (isLater ? Promise.resolve({ decision, reason }) : { decision, reason }),
  });
  const decide = async (...authorizers: Authorizer[]) => {
    const { decision, reason } = await authorizerUnion(authorizers).authorize(ask(jane, 'get pods ns'));
    return `${decision} ${reason}`;
  };

  it('ends with the first that decides and collects the reasons of the others', async () => {
    for (const isLater of [false, true]) {
      assert.equal(
        await decide(fixed('no-opinion', 'a', isLater), fixed('allow', 'b'), fixed('deny', 'c')),
        'allow b',
      );
      assert.equal(
        await decide(fixed('no-opinion', 'a'), fixed('deny', 'b', isLater), fixed('allow', 'c')),
        'deny b',
      );
      assert.equal(
        await decide(
          fixed('no-opinion', 'a', isLater),
          fixed('no-opinion', ''),
          fixed('no-opinion', 'c', isLater),
        ),
        'no-opinion a\nc',
      );
    }
    assert.equal(await decide(), 'no-opinion ');
    const direct = authorizerUnion([privilegedGroupAuthorizer, fixed('deny', 'x')]).authorize(
      ask({ name: 'r', groups: ['system:masters'] }, 'get pods'),
    );
    assert.deepEqual(direct, { decision: 'allow', reason: '' });
  });
});
