import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Clock, silentLogger } from '@sheaf/base';
import { allTasks, startTestServer, TestClock } from '@sheaf/testkit';
import { LeaderElection, leases } from './leader-election.ts';

const lease = { namespace: 'kube-system', name: 'controllers' };

interface Candidate {
  isLeading: boolean;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Shows another wall-clock time; its monotonic clock runs as fast as the others'. */
function skewed(clock: Clock, byMs: number): Clock {
  return {
    now: () => clock.now() + byMs,
    monotonic: () => clock.monotonic(),
    schedule: (delayMs, task) => clock.schedule(delayMs, task),
  };
}

describe('leader election', () => {
  it('has one leader at a time, whatever the wall clocks say, and a new one when it goes', async () => {
    const clock = new TestClock();
    const test = await startTestServer({ clock });
    await test.client.create(
      { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
      { metadata: { name: 'kube-system' } },
    );
    const cut = new Set<string>();
    const stand = (identity: string, skewMs: number): Candidate => {
      const stop = new AbortController();
      const candidate: { isLeading: boolean } = { isLeading: false };
      const election = new LeaderElection({
        client: test.clientThrough((request) =>
          cut.has(identity) ? Promise.reject(new Error('cut off')) : test.transport.send(request),
        ),
        clock: skewed(clock, skewMs),
        logger: silentLogger,
        lease,
        identity,
        lead: (signal) =>
          new Promise((resolve) => {
            candidate.isLeading = true;
            signal.addEventListener('abort', () => {
              candidate.isLeading = false;
              resolve();
            });
          }),
      });
      return Object.assign(candidate, { stop, ended: election.run(stop.signal) });
    };
    const candidates = [stand('a', 0), stand('b', 3_600_000), stand('c', -3_600_000)];
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1000);
        await allTasks();
        assert.ok(candidates.filter(({ isLeading }) => isLeading).length <= 1, 'two lead at once');
      }
    };
    await allTasks();
    await pass(30);
    const first = candidates.findIndex(({ isLeading }) => isLeading);
    assert.ok(first >= 0, 'nobody leads');
    cut.add('abc'[first] ?? '');
    await pass(40);
    const second = candidates.findIndex(({ isLeading }) => isLeading);
    assert.ok(second >= 0 && second !== first, 'nobody has taken over');
    candidates[second]?.stop.abort();
    await allTasks();
    await pass(5);
    const third = candidates.findIndex(({ isLeading }) => isLeading);
    assert.ok(third >= 0 && third !== second && third !== first, 'a lease given back is taken soon');
    const held = await test.client.get(leases, lease);
    assert.equal(held.spec?.holderIdentity, 'abc'[third]);
    assert.match(held.spec?.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    for (const { stop } of candidates) stop.abort();
    clock.advance(5000);
    await Promise.all(candidates.map(({ ended }) => ended));
    await test.close();
  });
});
