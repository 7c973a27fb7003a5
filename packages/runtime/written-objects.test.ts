import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { settle, startTestServer, TestClock } from '@sheaf/testkit';
import { Informer } from './informer.ts';
import { WrittenObjects } from './written-objects.ts';

it('what was written is seen before the watch tells of it, and what is gone is not', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  const { signal } = new AbortController();
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const informer = new Informer(resources.configMaps, { client, clock, logger: silentLogger });
  const written = new WrittenObjects({ client, clock, informer });
  const names = async (): Promise<unknown[]> =>
    (await written.list('default', signal))
      .map(({ metadata, ['data']: data }) => [metadata.name, data])
      .toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
  const make = (name: string): ReturnType<typeof client.create> =>
    client.create(resources.configMaps, { metadata: { namespace: 'default', name }, data: { step: '1' } });
  try {
    const first = await make('first');
    const second = await make('second');
    written.note(first);
    written.note(second);
    assert.deepEqual(await names(), [
      ['first', { step: '1' }],
      ['second', { step: '1' }],
    ]);
    // The watch has not even begun: after a while it is asked whether it is true.
    await client.delete(resources.configMaps, { namespace: 'default', name: 'first' });
    clock.advance(5000);
    assert.deepEqual(await names(), [['second', { step: '1' }]]);
    written.note(await client.update(resources.configMaps, { ...second, data: { step: '2' } }));
    informer.start();
    await settle({ clock, until: () => informer.isSynced });
    assert.deepEqual(await names(), [['second', { step: '2' }]]);
    const third = await make('third');
    await settle({ clock, until: () => informer.cache.size === 2 });
    written.noteDeletion(third);
    assert.deepEqual(await names(), [['second', { step: '2' }]]);
    await client.delete(resources.configMaps, { namespace: 'default', name: 'third' });
    await settle({ clock, until: () => informer.cache.size === 1 });
    await make('third');
    await settle({ clock, until: () => informer.cache.size === 2 });
    assert.equal((await names()).length, 2);
  } finally {
    await informer.stop();
    await close();
  }
});
