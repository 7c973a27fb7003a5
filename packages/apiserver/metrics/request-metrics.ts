import {
  type Clock,
  type Distribution,
  type Family,
  type MetricsRegistry,
  TextTree,
  type Value,
} from '@sheaf/base';
import type { InFlight } from '../pipeline/in-flight.ts';
import type { RequestInfo, ResourceRequestInfo } from '../pipeline/request-info.ts';
import type {
  ObservedResult,
  RequestObservation,
  RequestObserver,
  StreamObservation,
} from '../pipeline/request-observer.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';

export interface RequestMetricsOptions {
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly inFlight: InFlight;
  /** What is served; anything else is counted without its name, as anybody can ask for any name. */
  readonly registry: () => ResourceRegistry | undefined;
}

/** Seconds. */
const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'dry_run'];
const verbs: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  post: 'POST',
  put: 'PUT',
  head: 'GET',
};

/** The cells of one kind of request. */
interface Cells {
  readonly codes: Map<number, Value>;
  readonly duration: Distribution;
  readonly values: readonly string[];
}

/** Counts requests, their durations, streams and watch events, under upstream's names. */
export class RequestMetrics implements RequestObserver {
  readonly #options: RequestMetricsOptions;
  readonly #total: Family<Value>;
  readonly #durations: Family<Distribution>;
  readonly #streams: Family<Value>;
  readonly #watchEvents: Family<Value>;
  readonly #watchBytes: Family<Value>;
  readonly #cells: TextTree<Cells>;

  constructor(options: RequestMetricsOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#total = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests answered, by what they were about and the HTTP status.',
      labels: [...labels, 'component', 'code'],
    });
    this.#durations = metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the head of a request until its answer is known; watches are left out.',
      labels: [...labels, 'component'],
      buckets: durationBuckets,
    });
    this.#streams = metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and other streams that are open.',
      labels: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
    });
    const target = ['group', 'version', 'resource'];
    this.#watchEvents = metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers.',
      labels: target,
    });
    this.#watchBytes = metrics.counter({
      name: 'sheaf_watch_bytes_total',
      help: 'Bytes of events sent to watchers.',
      labels: target,
    });
    this.#cells = new TextTree((values) => ({
      values,
      codes: new Map(),
      duration: this.#durations.of(...values, 'apiserver'),
    }));
    this.#addInFlight(metrics);
  }

  begin(): RequestObservation {
    const { clock } = this.#options;
    const begun = clock.monotonic();
    return {
      annotate() {},
      end: (result) => this.#end(result, (clock.monotonic() - begun) / 1000),
    };
  }

  #end(result: ObservedResult, seconds: number): StreamObservation | undefined {
    const { info, response } = result;
    const cells = this.#cellsOf(info, isDryRun(result));
    let code = cells.codes.get(response.status);
    if (!code) {
      code = this.#total.of(...cells.values, 'apiserver', String(response.status));
      cells.codes.set(response.status, code);
    }
    code.add();
    if (response.body.kind !== 'bytes') return this.#stream(cells);
    cells.duration.observe(seconds);
    return undefined;
  }

  #stream({ values }: Cells): StreamObservation {
    const [verb = '', group = '', version = '', resource = '', subresource = '', scope = ''] = values;
    const open = this.#streams.of(verb, group, version, resource, subresource, scope, 'apiserver');
    const events = this.#watchEvents.of(group, version, resource);
    const bytes = this.#watchBytes.of(group, version, resource);
    open.add(1);
    return {
      chunk(length) {
        events.add();
        bytes.add(length);
      },
      ended: () => open.add(-1),
    };
  }

  #cellsOf(info: RequestInfo, dryRun: boolean): Cells {
    const dry = dryRun ? 'All' : '';
    // Methods can be anything.
    const verb = Object.hasOwn(verbs, info.verb) ? (verbs[info.verb] ?? '') : 'OTHER';
    if (!info.isResource || !this.#isServed(info)) return this.#cells.of([verb, '', '', '', '', '', dry]);
    const { group, version, resource, subresource } = info;
    return this.#cells.of([verb, group, version, resource, subresource, scopeOf(info), dry]);
  }

  #isServed(info: ResourceRequestInfo): boolean {
    const { group, version, resource, subresource } = info;
    const registry = this.#options.registry();
    const found = registry?.find(group, version, resource);
    if (found && (subresource === '' || found.subresources.has(subresource))) return true;
    return registry?.extensions.find(info) !== undefined;
  }

  #addInFlight(metrics: MetricsRegistry): void {
    const { inFlight } = this.#options;
    const current = metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Short requests that are worked on now and count against the limits.',
      labels: ['request_kind'],
    });
    const refused = metrics.counter({
      name: 'apiserver_dropped_requests_total',
      help: 'Requests refused because too many were worked on.',
    });
    metrics.onCollect(() => {
      current.of('readOnly').set(inFlight.current.readOnly);
      current.of('mutating').set(inFlight.current.mutating);
      refused.of().set(inFlight.refused);
    });
  }
}

function scopeOf({ name, namespace, verb }: ResourceRequestInfo): string {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

function isDryRun({ query }: ObservedResult): boolean {
  return query.size > 0 && query.has('dryRun');
}
