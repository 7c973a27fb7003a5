import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import type { AggregateRules } from './plan.ts';
import { register } from './register.ts';

/** Joins the rules of roles labelled `part`. */
const joinParts: AggregateRules = (role, roles) =>
  role['aggregationRule'] === undefined
    ? undefined
    : roles
        .filter(({ metadata }) => metadata.labels?.['part'] !== undefined)
        .flatMap((part) => (Array.isArray(part['rules']) ? part['rules'].filter(isJsonObject) : []));

it('an aggregating role follows the roles that it selects', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager, { aggregate: joinParts });
  void manager.start();
  const rule = (resource: string): JsonObject => ({
    apiGroups: [''],
    resources: [resource],
    verbs: ['get'],
  });
  const rulesAre = async (...rules: JsonObject[]): Promise<void> =>
    settle({
      clock,
      until: async () =>
        jsonEqual(
          ((await client.get(resources.clusterRoles, { name: 'sum' }))['rules'] ?? []) as JsonValue,
          rules,
        ),
    });
  try {
    await client.create(resources.clusterRoles, {
      metadata: { name: 'sum' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
      rules: [rule('written-by-hand')],
    });
    await rulesAre();
    const part = { metadata: { name: 'part', labels: { part: 'yes' } }, rules: [rule('pods')] };
    const made = await client.create(resources.clusterRoles, part);
    await rulesAre(rule('pods'));
    await client.update(resources.clusterRoles, { ...made, rules: [rule('secrets')] });
    await rulesAre(rule('secrets'));
    await client.delete(resources.clusterRoles, { name: 'part' });
    await rulesAre();
    assert.equal(manager.controllers[0]?.counts.failing.size, 0);
  } finally {
    await manager.stop();
    await close();
  }
});
