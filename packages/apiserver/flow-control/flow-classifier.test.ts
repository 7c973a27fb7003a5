import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { startTestServer, TestClock } from '@sheaf/testkit';
import type { User } from '../authentication/user.ts';
import { FixtureViews } from '../authorization/live-views.fixture.ts';
import { readRequestInfo } from '../pipeline/request-info.ts';
import { FlowClassifier, flowControlGroup } from './flow-classifier.ts';

const everything: JsonObject = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const leases: JsonObject = {
  resourceRules: [
    {
      verbs: ['get', 'update'],
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      namespaces: ['kube-system'],
    },
  ],
};

interface Schema {
  readonly precedence: number;
  readonly subject: JsonObject;
  readonly rules: JsonObject;
  readonly level?: string;
}

function addSchema(views: FixtureViews, name: string, schema: Schema): void {
  const { precedence, subject, rules, level = 'level' } = schema;
  views.of(flowControlGroup, 'flowschemas').put({
    metadata: { name, uid: `uid-${name}` },
    spec: {
      matchingPrecedence: precedence,
      priorityLevelConfiguration: { name: level },
      rules: [{ subjects: [subject], ...rules }],
    },
  });
}

function viewsWithLevel(): FixtureViews {
  const views = new FixtureViews();
  views
    .of(flowControlGroup, 'prioritylevelconfigurations')
    .put({ metadata: { name: 'level', uid: 'uid-level' }, spec: {} });
  return views;
}

const masters: JsonObject = { kind: 'Group', group: { name: 'system:masters' } };
const anybody: JsonObject = { kind: 'Group', group: { name: '*' } };
const robots: JsonObject = { kind: 'ServiceAccount', serviceAccount: { namespace: 'ns', name: '*' } };

function schemaOf(classifier: FlowClassifier, user: User, path: string): string | undefined {
  const info = readRequestInfo('GET', path, new URLSearchParams());
  return classifier.classify(user, info)?.schemaUid;
}

describe('flows', () => {
  it('are found by precedence, then by name', () => {
    const views = viewsWithLevel();
    const classifier = new FlowClassifier(views);
    const admin: User = { name: 'root', groups: ['system:masters'] };
    assert.equal(schemaOf(classifier, admin, '/api/v1/pods'), undefined);
    addSchema(views, 'z', { precedence: 500, subject: anybody, rules: everything });
    addSchema(views, 'y', { precedence: 500, subject: anybody, rules: everything });
    assert.equal(schemaOf(classifier, admin, '/api/v1/pods'), 'uid-y');
    addSchema(views, 'exempt', { precedence: 1, subject: masters, rules: everything });
    assert.equal(schemaOf(classifier, admin, '/api/v1/pods'), 'uid-exempt');
    assert.equal(schemaOf(classifier, { name: 'a', groups: [] }, '/metrics'), 'uid-y');
  });

  it('follow subject, verb, resource and namespace', () => {
    const views = viewsWithLevel();
    const classifier = new FlowClassifier(views);
    addSchema(views, 'leases', { precedence: 10, subject: robots, rules: leases });
    const robot: User = { name: 'system:serviceaccount:ns:r', groups: [] };
    const base = '/apis/coordination.k8s.io/v1/namespaces';
    assert.equal(schemaOf(classifier, robot, `${base}/kube-system/leases/l`), 'uid-leases');
    assert.equal(schemaOf(classifier, robot, `${base}/kube-system/leases`), undefined);
    assert.equal(schemaOf(classifier, robot, `${base}/other/leases/l`), undefined);
    assert.equal(
      schemaOf(
        classifier,
        { name: 'system:serviceaccount:nsx:r', groups: [] },
        `${base}/kube-system/leases/l`,
      ),
      undefined,
    );
  });

  it('need their priority level, and leave streams out', () => {
    const views = viewsWithLevel();
    const classifier = new FlowClassifier(views);
    addSchema(views, 'dangling', { precedence: 1, subject: anybody, rules: everything, level: 'none' });
    addSchema(views, 'all', { precedence: 2, subject: anybody, rules: everything });
    const user: User = { name: 'a', groups: [] };
    assert.equal(schemaOf(classifier, user, '/api/v1/namespaces/x/pods/p'), 'uid-all');
    assert.equal(schemaOf(classifier, user, '/api/v1/namespaces/x/pods/p/log'), undefined);
  });

  it('are named by answers, refusals among them', async () => {
    const test = await startTestServer({ clock: new TestClock() });
    try {
      const flow = { group: flowControlGroup, version: 'v1', namespaced: false };
      const level = await test.client.create<KubeObject>(
        { ...flow, plural: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration' },
        {
          metadata: { name: 'level' },
          spec: {
            type: 'Limited',
            limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } },
          },
        },
      );
      const schema = await test.client.create<KubeObject>(
        { ...flow, plural: 'flowschemas', kind: 'FlowSchema' },
        {
          metadata: { name: 'all' },
          spec: {
            priorityLevelConfiguration: { name: 'level' },
            rules: [{ subjects: [anybody], ...everything }],
          },
        },
      );
      const { status, headers } = await test.server.handle({
        method: 'GET',
        path: '/api/v1/secrets',
        query: '',
        headers: {},
        readBody: () => Promise.resolve(new Uint8Array()),
        signal: new AbortController().signal,
        remoteAddress: '127.0.0.1',
      });
      assert.equal(status, 403);
      assert.equal(headers['x-kubernetes-pf-flowschema-uid'], schema.metadata.uid);
      assert.equal(headers['x-kubernetes-pf-prioritylevel-uid'], level.metadata.uid);
    } finally {
      await test.close();
    }
  });
});
