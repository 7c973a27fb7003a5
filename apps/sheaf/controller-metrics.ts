import type { MetricsRegistry } from '@sheaf/base';
import type { Controller } from '@sheaf/runtime';

/** What the controllers do, looked at when asked. */
export function addControllerMetrics(
  metrics: MetricsRegistry,
  controllers: () => readonly Controller[],
): void {
  const labels = ['name'];
  const depth = metrics.gauge({
    name: 'workqueue_depth',
    help: 'Keys that wait in the queue of a controller.',
    labels,
  });
  const passes = metrics.counter({
    name: 'sheaf_controller_passes_total',
    help: 'Reconcile passes.',
    labels,
  });
  const failures = metrics.counter({
    name: 'sheaf_controller_failures_total',
    help: 'Passes that failed.',
    labels,
  });
  const failing = metrics.gauge({
    name: 'sheaf_controller_failing_keys',
    help: 'Keys whose newest pass failed.',
    labels,
  });
  metrics.onCollect(() => {
    for (const { name, counts } of controllers()) {
      depth.of(name).set(counts.queueDepth);
      passes.of(name).set(counts.passes);
      failures.of(name).set(counts.failures);
      failing.of(name).set(counts.failing.size);
    }
  });
}
