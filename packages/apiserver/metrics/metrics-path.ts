import type { MetricsRegistry } from '@sheaf/base';
import type { Store } from '@sheaf/store';
import type { PathHandler } from '../pipeline/path-handler.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import { updateStoreSize } from './store-metrics.ts';

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `/metrics` in Prometheus' text form. */
export function metricsPath(metrics: MetricsRegistry, store: Store): PathHandler {
  const size = metrics.gauge({
    name: 'sheaf_store_size',
    help: 'Keys and revisions in the store, and their bytes.',
    labels: ['what'],
  });
  return ({ info }) => {
    if (info.path !== '/metrics') return undefined;
    return updateStoreSize(store, (name, value) => size.of(name).set(value)).then(() =>
      bytesResponse(200, contentType, Buffer.from(metrics.text())),
    );
  };
}
