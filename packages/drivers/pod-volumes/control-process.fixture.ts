import { systemClock } from '../system/register.ts';
import type { DyingOrder } from './pod-volumes-host.fixture.ts';
import { openPodVolumes } from './register.ts';

/** A life of the driver that does one thing. */
const [, , directory = '', text = ''] = process.argv;
const { podUid, volume } = JSON.parse(text) as DyingOrder;
const volumes = openPodVolumes({
  directory,
  clock: systemClock,
  mayWrite: () => Promise.resolve(true),
});
// The clock's timers keep nobody alive.
const alive = setInterval(() => undefined, 60_000);
const { signal } = new AbortController();
await (volume ? volumes.ensure(podUid, volume, signal) : volumes.remove(podUid, signal));
clearInterval(alive);
