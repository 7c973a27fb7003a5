import { join } from 'node:path';
import type { ApiServerOptions } from '@sheaf/apiserver';
import { AuditLog, type AuditPolicy } from '@sheaf/apiserver/audit/index';
import { HealthChecks } from '@sheaf/apiserver/health/index';
import {
  addStorageMetrics,
  measuredStore,
  metricsPath,
  RequestMetrics,
} from '@sheaf/apiserver/metrics/index';
import { InFlight } from '@sheaf/apiserver/pipeline/in-flight';
import { joinedObserver } from '@sheaf/apiserver/pipeline/request-observer';
import { type Clock, type Logger, MetricsRegistry, type Random } from '@sheaf/base';
import { addProcessMetrics, RotatedFile } from '@sheaf/drivers/system';
import type { Store } from '@sheaf/store';
import { backupHandler, backupPath } from './backup-path.ts';
import { addControllerMetrics } from './controller-metrics.ts';
import { certificateCheck, type StatusParts, statusHandler, statusPath } from './status-path.ts';

export interface ObservationOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Absolute. */
  readonly dataDir: string;
  /** What the audit log tells; the usual if absent. */
  readonly auditPolicy?: AuditPolicy | undefined;
}

/** Everything that looks at the server while it works. */
export interface Observation {
  readonly health: HealthChecks;
  readonly metrics: MetricsRegistry;
  /** The store to work with: its commits are timed. */
  readonly store: Store;
  readonly serverOptions: Pick<
    ApiServerOptions,
    'health' | 'metrics' | 'observer' | 'inFlight' | 'furtherPaths'
  >;
  /** Tells what was not there yet when the options were made. */
  attach(known: Partial<Omit<StatusParts, 'store' | 'clock' | 'health'>>): void;
  /** Readiness says no from now on. */
  stopping(): void;
  /** Writes what is still to be written; the last thing before the store is closed. */
  close(): Promise<void>;
}

export function observation(options: ObservationOptions): Observation {
  const { store, clock, random, logger, dataDir, auditPolicy } = options;
  const health = new HealthChecks();
  const metrics = new MetricsRegistry();
  const inFlight = new InFlight();
  const measured = measuredStore(store, metrics, clock);
  const parts: StatusParts = { store, clock, health };
  let isStopping = false;
  const requests = new RequestMetrics({ metrics, clock, inFlight, registry: () => parts.server?.registry });
  const audit = new AuditLog({
    file: new RotatedFile({ path: join(dataDir, 'audit', 'audit.log'), clock }),
    clock,
    logger,
    metrics,
    ...(auditPolicy ? { policy: auditPolicy } : {}),
  });
  health.add(measured.check, 'readyz');
  health.add(audit.check, 'readyz');
  health.add({ name: 'certificates', check: () => certificateCheck(parts) }, 'readyz');
  health.add({ name: 'controllers', check: () => controllersReason(parts) }, 'readyz');
  health.add({ name: 'kinds', check: () => kindsReason(parts) }, 'readyz');
  health.add({ name: 'shutdown', check: () => (isStopping ? 'the server stops' : undefined) }, 'readyz');
  addProcessMetrics(metrics);
  addControllerMetrics(metrics, () => parts.controllers?.() ?? []);
  addStorageMetrics(metrics, store, () => parts.server?.stores.all() ?? []);
  return {
    health,
    metrics,
    store: measured.store,
    serverOptions: {
      health,
      metrics,
      inFlight,
      observer: joinedObserver([requests, audit]),
      furtherPaths: [
        { path: '/metrics', handler: metricsPath(metrics, store) },
        { path: statusPath, handler: statusHandler(parts) },
        {
          path: backupPath,
          handler: backupHandler({ store, clock, random, directory: join(dataDir, 'backup-being-sent') }),
        },
      ],
    },
    attach: (known) => void Object.assign(parts, known),
    stopping() {
      isStopping = true;
    },
    close: () => audit.close(),
  };
}

/** An informer that has once known a complete state does not go back; what fails later stands in the status. */
function controllersReason({ controllers }: StatusParts): string | undefined {
  if (!controllers) return 'the controllers have not started yet';
  const reasons = controllers().flatMap(({ name, waitsFor }) =>
    waitsFor ? [`${name} waits for ${waitsFor}`] : [],
  );
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

const kindsShown = 3;

/** Clients of virtual machines would be told that there is no such resource. */
function kindsReason({ unservedKinds }: StatusParts): string | undefined {
  const unserved = [...(unservedKinds ?? [])].map(([name, why]) => `${name}: ${why}`);
  if (unserved.length === 0) return undefined;
  return `${unserved.length} not served; ${unserved.slice(0, kindsShown).join('; ')}`;
}
