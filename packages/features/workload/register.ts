import type { Manager } from '@sheaf/runtime';
import { register as registerCronJobs } from './cron-job/register.ts';
import { register as registerDaemonSets } from './daemon-set/register.ts';
import { register as registerDeployments } from './deployment/register.ts';
import { register as registerEphemeralVolumes } from './ephemeral-volume/register.ts';
import { register as registerJobs } from './job/register.ts';
import { register as registerReplicaSets } from './replica-set/register.ts';
import { register as registerScheduler } from './scheduler/register.ts';
import { register as registerStatefulSets } from './stateful-set/register.ts';

export { extend } from './extend.ts';
export { register as registerLostPods } from './lost-pod/register.ts';
export { type PodHost, register as registerPods } from './pod/register.ts';
export { register as registerRoom } from './room/register.ts';

/** The controllers of everything that makes pods, and what gives these their nodes. */
export function register(manager: Manager): void {
  registerDeployments(manager);
  registerReplicaSets(manager);
  registerStatefulSets(manager);
  registerDaemonSets(manager);
  registerJobs(manager);
  registerCronJobs(manager);
  registerEphemeralVolumes(manager);
  registerScheduler(manager);
}
