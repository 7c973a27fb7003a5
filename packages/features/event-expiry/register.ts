import type { Manager } from '@sheaf/runtime';
import { sweepEvents } from './reconcile.ts';

/** Deletes events one hour after they happened last. */
export function register(manager: Manager): void {
  const controller = manager.controller({
    name: 'event-expiry',
    reconcile: (_key, signal) => sweepEvents(manager, signal),
  });
  controller.queue.add('all');
}
