import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { startTestServer } from '@sheaf/testkit';

const budgets: ResourceRef = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};
const namespace = 'default';
const place = { namespace, name: 'p' };
const labels = { app: 'a' };

interface Case {
  readonly title: string;
  readonly isReady?: boolean;
  readonly policy?: string;
  readonly status: object;
  /** `undefined`: it is evicted. */
  readonly refusal?: { readonly cause: string; readonly retryAfter: string | undefined };
}

const spent = 'The disruption budget b needs 2 healthy pods and has 2 currently';
const cases: readonly Case[] = [
  {
    title:
      'a budget that has nothing left refuses, without a time at which clients would ask again by themselves',
    status: { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 },
    refusal: { cause: spent, retryAfter: undefined },
  },
  {
    title: 'a budget that is not counted yet refuses for a while',
    status: { observedGeneration: 0, disruptionsAllowed: 1 },
    refusal: { cause: 'The disruption budget b is still being processed by the server.', retryAfter: '10' },
  },
  { title: 'a budget with something left pays', status: { observedGeneration: 1, disruptionsAllowed: 1 } },
  {
    title: 'a pod that is not ready goes where enough others are',
    isReady: false,
    status: { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 },
  },
  {
    title: 'a pod that is not ready stays where too few others are',
    isReady: false,
    status: { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 1 },
    refusal: { cause: spent.replace('has 2', 'has 1'), retryAfter: undefined },
  },
  {
    title: 'a pod that is not ready goes where the budget always allows it',
    isReady: false,
    policy: 'AlwaysAllow',
    status: { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 1 },
  },
];

for (const each of cases)
  it(`eviction: ${each.title}`, async () => {
    const { client, close } = await startTestServer();
    try {
      await prepare(client, each);
      const answer = await evict(client);
      const body = JSON.parse(await answer.text()) as unknown;
      if (each.refusal) {
        const { message, details } = body as { message: string; details: { causes: unknown } };
        assert.deepEqual(
          [answer.status, message, details.causes, answer.headers['retry-after']],
          [
            429,
            "Cannot evict pod as it would violate the pod's disruption budget.",
            [{ reason: 'DisruptionBudget', message: each.refusal.cause }],
            each.refusal.retryAfter,
          ],
        );
      } else {
        assert.equal(answer.status, 201);
      }
      const left = await client.find(resources.pods, place);
      assert.equal(left === undefined || left.metadata.deletionTimestamp !== undefined, !each.refusal);
    } finally {
      await close();
    }
  });

async function prepare(client: Client, { isReady = true, policy, status }: Case): Promise<void> {
  await client.create(resources.namespaces, { metadata: { name: namespace } });
  await client.create(resources.serviceAccounts, { metadata: { namespace, name: 'default' } });
  const pod = await client.create(resources.pods, {
    metadata: { ...place, labels },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  await client.updateStatus(resources.pods, {
    ...pod,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
  const budget = await client.create(budgets, {
    metadata: { namespace, name: 'b' },
    spec: {
      minAvailable: 2,
      selector: { matchLabels: labels },
      ...(policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy }),
    },
  });
  await client.updateStatus(budgets, { ...budget, status });
}

async function evict(client: Client): ReturnType<Client['send']> {
  return await client.send({
    method: 'POST',
    target: `/api/v1/namespaces/${namespace}/pods/p/eviction`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: place }),
  });
}
