export { Manager, type ManagerOptions, type Runnable } from './control-loops.ts';
export { Controller, type ControllerCounts, type ControllerOptions } from './controller.ts';
export { EventRecorder, type EventRecorderOptions, type RecordedEvent } from './event-recorder.ts';
export { Informer, type InformerOptions, type ObjectChange, type Selection } from './informer.ts';
/** @public for the processes that share a cluster. */
export { LeaderElection, type LeaderElectionOptions, type Lease, leases } from './leader-election.ts';
export { keyOf, ObjectCache, parseKey } from './object-cache.ts';
export * from './reconcile-result.ts';
export { WrittenObjects, type WrittenObjectsOptions } from './written-objects.ts';
