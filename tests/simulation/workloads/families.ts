import { type ResourceRef, resources } from '@sheaf/client';
import { register as registerEverything } from '@sheaf/features/workload';
import { register as registerCronJobs } from '@sheaf/features/workload/cron-job';
import { register as registerDaemonSets } from '@sheaf/features/workload/daemon-set';
import { register as registerDeployments } from '@sheaf/features/workload/deployment';
import { register as registerJobs } from '@sheaf/features/workload/job';
import { register as registerReplicaSets } from '@sheaf/features/workload/replica-set';
import { register as registerScheduler } from '@sheaf/features/workload/scheduler';
import { register as registerStatefulSets } from '@sheaf/features/workload/stateful-set';
import type { Manager } from '@sheaf/runtime';
import { belongings } from './kinds.ts';

/** Owners of pods that have to do with each other, and who looks after them. */
export interface Family {
  /** What users make and change. */
  readonly owners: ReadonlySet<ResourceRef>;
  /** What garbage collection looks at. */
  readonly collected: ReadonlySet<string>;
  /** How many replicas users ask for. */
  readonly sizes: readonly number[];
  /** Its controllers, and what gives pods their nodes. */
  readonly register: (manager: Manager) => void;
}

/** All of them in one world. */
export const everything: Family = {
  owners: new Set<ResourceRef>(belongings),
  collected: pluralsOf(belongings),
  sizes: [0, 1, 2, 3],
  register: registerEverything,
};

const { deployments, replicaSets, statefulSets, daemonSets, jobs, cronJobs } = resources;
const { pods, controllerRevisions, persistentVolumeClaims } = resources;

const deploying = family([deployments, replicaSets], [registerDeployments, registerReplicaSets]);
const stateful = family(
  [statefulSets],
  [registerStatefulSets],
  [controllerRevisions, persistentVolumeClaims],
);
const working = family([jobs], [registerJobs]);
const repeating = family([cronJobs, jobs], [registerCronJobs, registerJobs]);
const daemons = family([daemonSets], [registerDaemonSets], [controllerRevisions]);

/** As often as there is much to go wrong. */
const families: readonly Family[] = [
  ...[deploying, stateful, working, repeating],
  ...[deploying, stateful, working, repeating],
  ...[deploying, stateful, daemons, everything],
];

/** Most defects need one controller and its pods: the rest of the world only takes its time. */
export function familyOf(seed: number): Family {
  return families[seed % families.length] ?? everything;
}

function family(
  owners: readonly ResourceRef[],
  controllers: readonly ((manager: Manager) => void)[],
  made: readonly ResourceRef[] = [],
): Family {
  return {
    owners: new Set(owners),
    collected: pluralsOf([...owners, pods, ...made]),
    sizes: [0, 1, 1, 1, 2, 2, 3],
    register(manager) {
      for (const register of controllers) register(manager);
      registerScheduler(manager);
    },
  };
}

function pluralsOf(kinds: readonly ResourceRef[]): ReadonlySet<string> {
  return new Set(kinds.map(({ plural }) => plural));
}
