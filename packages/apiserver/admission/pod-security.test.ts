import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { TestServer } from '@sheaf/testkit';
import { type Fields, kinds, outcome, startAdmissionServer } from './admission-server.fixture.ts';
import { violationsOf, violationText } from './pod-security-checks.ts';
import { type LevelVersion, levelText, readSecurityPolicy } from './pod-security-labels.ts';

interface Recorded {
  readonly cases: readonly { readonly spec: JsonObject; readonly annotations: Record<string, string> }[];
  readonly outcomes: readonly { readonly level: string; readonly case: number; readonly message: string }[];
}

function levelOf(text: string): LevelVersion {
  const [level = '', version = ''] = text.split(':');
  return readSecurityPolicy({
    'pod-security.kubernetes.io/enforce': level,
    'pod-security.kubernetes.io/enforce-version': version,
  }).enforce;
}

describe('PodSecurity', () => {
  it('judges as recorded from kube-apiserver 1.36', () => {
    const file = join(import.meta.dirname, 'fixtures', 'pod-security.json');
    const { cases, outcomes } = JSON.parse(readFileSync(file, 'utf8')) as Recorded;
    for (const { level, case: index, message } of outcomes) {
      const found = cases[index];
      assert.ok(found);
      const wanted = levelOf(level);
      const violations = violationsOf(wanted, {
        metadata: { annotations: found.annotations },
        spec: found.spec,
      });
      const text =
        violations.length === 0
          ? 'ok'
          : `pods "p${index}" is forbidden: violates PodSecurity "${levelText(wanted)}": ${violationText(violations)}`;
      if (message === 'ok' || message.includes('PodSecurity'))
        assert.equal(text, message, `${level} ${index}`);
    }
  });

  describe('in a server', () => {
    let test: TestServer;
    before(async () => (test = await startAdmissionServer()));
    after(() => test.close());

    const label = (mode: string) => `pod-security.kubernetes.io/${mode}`;
    async function space(name: string, labels: Record<string, string>): Promise<void> {
      await test.client.create(kinds.namespaces, { metadata: { name, labels } });
      await test.client.create(kinds.accounts, { metadata: { name: 'default', namespace: name } });
    }
    const podIn = (namespace: string, name: string, spec: Fields): KubeObject => ({
      metadata: { name, namespace },
      spec: { containers: [{ name: 'c', image: 'x:1' }], ...spec },
    });
    async function warningOf(target: string, body: object): Promise<string> {
      const answer = await test.client.send({
        method: 'POST',
        target,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 201);
      return answer.headers['warning'] ?? '';
    }

    it('enforces, and warns where it is only to warn', async () => {
      await space('strict', { [label('enforce')]: 'baseline' });
      assert.equal(
        await outcome(test.client.create(kinds.pods, podIn('strict', 'p', { hostNetwork: true }))),
        '403 pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
      );
      assert.equal(await outcome(test.client.create(kinds.pods, podIn('strict', 'q', {}))), 'ok');
      await space('mild', { [label('warn')]: 'baseline' });
      const warning = await warningOf('/api/v1/namespaces/mild/pods', podIn('mild', 'p', { hostPID: true }));
      assert.match(
        warning,
        /would violate PodSecurity \\"baseline:latest\\": host namespaces \(hostPID=true\)/,
      );
    });

    it('warns of workloads whose pods will be refused', async () => {
      await space('workloads', { [label('enforce')]: 'baseline' });
      const template = {
        metadata: { labels: { a: 'b' } },
        spec: { hostNetwork: true, containers: [{ name: 'c', image: 'x:1' }] },
      };
      const warning = await warningOf('/apis/apps/v1/namespaces/workloads/deployments', {
        metadata: { name: 'd' },
        spec: { selector: { matchLabels: { a: 'b' } }, template },
      });
      assert.match(warning, /would violate PodSecurity/);
    });

    it('refuses labels that mean nothing', async () => {
      assert.equal(
        await outcome(
          test.client.create(kinds.namespaces, {
            metadata: { name: 'odd', labels: { [label('enforce')]: 'x' } },
          }),
        ),
        '422 Namespace "odd" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
      );
    });
  });
});
