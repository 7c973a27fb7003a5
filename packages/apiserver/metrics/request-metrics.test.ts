import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Clock, MetricsRegistry } from '@sheaf/base';
import { MemoryStore } from '@sheaf/store';
import { startTestServer, TestClock } from '@sheaf/testkit';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import { InFlight } from '../pipeline/in-flight.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { metricsPath } from './metrics-path.ts';
import { RequestMetrics } from './request-metrics.ts';
import { addStorageMetrics, measuredStore } from './store-metrics.ts';

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
const configMap = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

async function start(limits = { readOnly: 10, mutating: 10 }): Promise<{
  send(
    method: string,
    target: string,
    options?: { body?: string; anonymous?: boolean },
  ): Promise<ApiResponse>;
  metrics: MetricsRegistry;
  close(): Promise<void>;
}> {
  const clock: Clock = new TestClock();
  const metrics = new MetricsRegistry();
  const inFlight = new InFlight(limits);
  const served: { registry?: ResourceRegistry } = {};
  const { store } = measuredStore(new MemoryStore(), metrics, clock);
  const observer = new RequestMetrics({ metrics, clock, inFlight, registry: () => served.registry });
  const furtherPaths = [{ path: '/metrics', handler: metricsPath(metrics, store) }];
  const { server, close } = await startTestServer({
    clock,
    store,
    metrics,
    observer,
    inFlight,
    furtherPaths,
  });
  served.registry = server.registry;
  addStorageMetrics(metrics, store, () => server.stores.all());
  return {
    metrics,
    close,
    send(method, target, { body = '', anonymous = false } = {}) {
      const [path = '', query = ''] = target.split('?');
      const request: ApiRequest = {
        method,
        path,
        query,
        headers: {},
        signal: new AbortController().signal,
        remoteAddress: '',
        readBody: () => Promise.resolve(Buffer.from(body)),
        ...(anonymous ? {} : { trustedUser: admin }),
      };
      return server.handle(request);
    },
  };
}

describe('RequestMetrics', () => {
  it('counts what is served by its name and everything else without', async () => {
    const { send, metrics, close } = await start();
    await send('POST', '/api/v1/namespaces', {
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }),
    });
    for (const name of ['a', 'b'])
      await send('POST', '/api/v1/namespaces/default/configmaps', { body: configMap(name) });
    await send('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', { body: configMap('c') });
    await send('GET', '/api/v1/configmaps');
    await send('GET', '/api/v1/zork-1');
    await send('ZORK', '/zork-2');
    const text = metrics.text();
    const total = (verb: string, rest: string): RegExp =>
      new RegExp(`apiserver_request_total\\{verb="${verb}",${rest}`);
    const about = 'group="",version="v1",resource="configmaps",subresource=""';
    assert.match(
      text,
      total('POST', `${about},scope="resource",dry_run="",component="apiserver",code="201"} 2`),
    );
    assert.match(
      text,
      total('POST', `${about},scope="resource",dry_run="All",component="apiserver",code="201"} 1`),
    );
    assert.match(
      text,
      total('LIST', `${about},scope="cluster",dry_run="",component="apiserver",code="200"} 1`),
    );
    assert.match(text, total('OTHER', 'group="",version="",resource=""'));
    assert.doesNotMatch(text, /zork/i);
    assert.match(text, /sheaf_store_commit_duration_seconds_count \d+/);
    assert.match(text, /apiserver_storage_objects\{resource="configmaps"\} 2/);
    assert.match(text, /admission_duration_seconds_count\{name="[A-Za-z]+",operation="CREATE"/);
    const scraped = await send('GET', '/metrics');
    assert.equal(scraped.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    await close();
  });

  it('follows watches: open ones, their events, their end', async () => {
    const { send, metrics, close } = await start();
    const { body } = await send('GET', '/api/v1/namespaces?watch=true');
    assert.equal(body.kind, 'stream');
    if (body.kind !== 'stream') return;
    const chunks: Uint8Array[] = [];
    const running = body.start({ queuedBytes: 0, write: (chunk) => void chunks.push(chunk), end() {} });
    await send('POST', '/api/v1/namespaces', {
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }),
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(chunks.length, 1);
    const open =
      /apiserver_longrunning_requests\{verb="WATCH",group="",version="v1",resource="namespaces".*\} (\d)/;
    assert.equal(open.exec(metrics.text())?.[1], '1');
    assert.match(
      metrics.text(),
      /apiserver_watch_events_total\{group="",version="v1",resource="namespaces"\} 1/,
    );
    running.dispose();
    running.dispose();
    assert.equal(open.exec(metrics.text())?.[1], '0');
    await close();
  });
});

describe('limits of requests in flight', () => {
  it('refuse what is too much, with a time to wait; health and administrators go through', async () => {
    const { send, metrics, close } = await start({ readOnly: 0, mutating: 0 });
    const refused = await send('GET', '/version', { anonymous: true });
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal((await send('GET', '/readyz', { anonymous: true })).status, 200);
    assert.equal((await send('GET', '/version')).status, 200);
    assert.match(metrics.text(), /apiserver_dropped_requests_total 1/);
    await close();
  });

  it('places are given back, also after failures', async () => {
    const { send, metrics, close } = await start({ readOnly: 1, mutating: 1 });
    for (let round = 0; round < 3; round++)
      assert.equal((await send('POST', '/api/v1/namespaces', { anonymous: true })).status, 403);
    assert.match(metrics.text(), /inflight_requests\{request_kind="mutating"\} 0/);
    await close();
  });
});
