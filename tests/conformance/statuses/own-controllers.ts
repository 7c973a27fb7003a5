import { silentLogger } from '@sheaf/base';
import { register as registerDisruptionBudgets } from '@sheaf/features/disruption-budget';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { register as registerServices } from '@sheaf/features/service';
import { register as registerCronJobs } from '@sheaf/features/workload/cron-job';
import { register as registerDaemonSets } from '@sheaf/features/workload/daemon-set';
import { register as registerDeployments } from '@sheaf/features/workload/deployment';
import { register as registerJobs } from '@sheaf/features/workload/job';
import { register as registerReplicaSets } from '@sheaf/features/workload/replica-set';
import { register as registerStatefulSets } from '@sheaf/features/workload/stateful-set';
import { Manager } from '@sheaf/runtime';
import { allTasks, SeededRandom, startTestServer, TestClock } from '@sheaf/testkit';
import type { Subject } from './play.ts';

/** Our API server with the controllers of workloads; time passes when the story lets it. Pods get no node, as with the original. */
export async function withOwnControllers(use: (subject: Subject) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const { client, clientAs, close } = await startTestServer({ clock });
  const controllers = clientAs({ name: 'controllers', groups: ['system:masters'] });
  const random = new SeededRandom(1);
  const manager = new Manager({ client: controllers, clock, random, logger: silentLogger });
  // The original is recorded without a scheduler too.
  registerDeployments(manager);
  registerReplicaSets(manager);
  registerStatefulSets(manager);
  registerDaemonSets(manager);
  registerJobs(manager);
  registerCronJobs(manager);
  registerServices(manager);
  registerDisruptionBudgets(manager);
  registerGarbageCollection(manager);
  void manager.start();
  try {
    await use({ client, now: () => clock.now(), pass: (milliseconds) => pass(clock, milliseconds) });
  } finally {
    await manager.stop();
    await close();
  }
}

async function pass(clock: TestClock, milliseconds: number): Promise<void> {
  const endMs = clock.monotonic() + milliseconds;
  for (;;) {
    await allTasks();
    const due = clock.nextDueMs;
    if (due === undefined || clock.monotonic() + due > endMs) break;
    clock.advance(due);
  }
  clock.advance(endMs - clock.monotonic());
  await allTasks();
}
