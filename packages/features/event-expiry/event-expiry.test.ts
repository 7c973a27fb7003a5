import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { allTasks, SeededRandom, startTestServer, TestClock } from '@sheaf/testkit';
import { planExpired } from './plan.ts';
import { register } from './register.ts';

describe('event expiry', () => {
  it('deletes old events and keeps those that happened again', async () => {
    const clock = new TestClock('2026-01-01T02:00:00Z');
    const { client, close } = await startTestServer({ clock: new TestClock('2026-01-01T00:00:00Z') });
    await client.create(resources.namespaces, { metadata: { name: 'default' } });
    const event = (name: string, lastTimestamp: string): KubeObject => ({
      metadata: { name, namespace: 'default' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp,
    });
    for (let index = 0; index < 20; index++)
      await client.create(resources.events, event(`old-${index}`, '2026-01-01T00:59:59Z'));
    await client.create(resources.events, event('again', '2026-01-01T01:00:30Z'));
    const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
    register(manager);
    const names = async (): Promise<(string | undefined)[]> =>
      (await client.list(resources.events)).items.map(({ metadata }) => metadata.name);
    try {
      await manager.start();
      await allTasks();
      await allTasks();
      assert.deepEqual(await names(), ['again']);
      clock.advance(61_000);
      await allTasks();
      assert.deepEqual(await names(), []);
    } finally {
      await manager.stop();
      await close();
    }
  });
});

describe('planExpired', () => {
  it('takes the newest time that an event has', () => {
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const events: KubeObject[] = [
      { metadata: { name: 'plain', creationTimestamp } },
      { metadata: { name: 'new', creationTimestamp }, eventTime: '2026-01-01T01:30:00.000000Z' },
      {
        metadata: { name: 'series', creationTimestamp },
        series: { lastObservedTime: '2026-01-01T01:30:00Z' },
      },
    ];
    const expired = planExpired(events, Date.parse('2026-01-01T02:00:00Z'));
    assert.deepEqual(
      expired.map(({ metadata }) => metadata.name),
      ['plain'],
    );
  });
});
