import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { type Clock, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { openPodVolumes } from '@sheaf/drivers/pod-volumes';
import { dockerArchive, openPodman } from '@sheaf/drivers/podman';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { registerRoom } from '@sheaf/features/workload';
import { Manager } from '@sheaf/runtime';
import { startTestServer } from '@sheaf/testkit';
import { eventually } from '../e2e/installation.ts';
import { containersAreMissing } from './workload-host.ts';

/** Its minutes are seconds, so that ages of images come soon. */
const quickClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * 60,
  schedule: (milliseconds, call) => systemClock.schedule(milliseconds / 60, call),
};

it('images of podman that nobody needs are removed where the disk runs low, and no others', {
  skip: containersAreMissing ?? false,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-room-'));
  const podman = openPodman({
    directory: join(directory, 'podman'),
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
  const { client, close } = await startTestServer({ clock: systemClock, random: systemRandom });
  const manager = new Manager({ client, clock: quickClock, random: systemRandom, logger: silentLogger });
  const { signal } = new AbortController();
  try {
    const { containers } = await podman.containers.probe(signal);
    assert.ok(containers.isAvailable, containers.reason);
    for (const name of ['r.test/unused:1', 'r.test/wanted:1', 'r.test/bundled:1'])
      await podman.images.load(archiveOf(name), signal);
    for (const name of ['default', 'kube-system'])
      await client.create(resources.namespaces, { metadata: { name } });
    await client.create(resources.serviceAccounts, { metadata: { namespace: 'default', name: 'default' } });
    await client.create(resources.pods, {
      metadata: { namespace: 'default', name: 'waits' },
      spec: { containers: [{ name: 'c', image: 'r.test/wanted:1' }] },
    });
    registerRoom(manager, {
      ...podman,
      nodeName: 'here',
      volumes: openPodVolumes({
        directory: join(directory, 'pods'),
        clock: systemClock,
        mayWrite: () => Promise.resolve(true),
      }),
      disk: () => Promise.resolve({ totalBytes: 1000, availableBytes: 120 }),
      isBundled: ({ tags }) => tags.includes('r.test/bundled:1'),
    });
    void manager.start();
    let tags: readonly string[] = [];
    await eventually(
      async () => {
        tags = (await podman.images.list(signal)).flatMap((image) => image.tags);
        return !tags.includes('r.test/unused:1');
      },
      { goal: 'what nobody needs is gone' },
      () => tags.join(),
    );
    assert.ok(tags.includes('r.test/wanted:1') && tags.includes('r.test/bundled:1'), tags.join());
  } finally {
    await manager.stop();
    podman.containers.dispose();
    await close();
    await rm(directory, { recursive: true, force: true });
  }
});

/** Another image for each name. */
async function* archiveOf(name: string): AsyncGenerator<Uint8Array> {
  const entries = [{ path: 'name', content: Buffer.from(name) }];
  yield await Promise.resolve(dockerArchive([{ name, entryPoint: ['/none'], environment: {}, entries }]));
}
