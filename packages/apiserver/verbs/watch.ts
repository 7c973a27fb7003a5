import type { Disposable } from '@sheaf/base';
import { DisposableStore, StatusError, toError } from '@sheaf/base';
import { RevisionCompacted } from '@sheaf/store';
import type { ListOptions } from '../options/list-options.ts';
import { parseResourceVersion, readListOptions } from '../options/list-options.ts';
import type { ResponseBody, StreamSink } from '../pipeline/api-request.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import type { Format, Representation } from '../representation/representation.ts';
import { storeOf } from './create.ts';
import type { ReadParts } from './get.ts';
import { readSelection } from './selection.ts';
import { WatchStream } from './watch-stream.ts';

export interface WatchParts extends ReadParts {
  readonly random: { integer(below: number): number };
}

/** A watch without a time limit of its own ends after 30 to 60 minutes. */
const minimumWatchSeconds = 1800;
const bookmarkIntervalMs = 60_000;
const bookmarkBeforeEndMs = 2000;

export interface WatchForm {
  readonly representation: Representation;
  readonly errorFormat: Format;
}

/** GET with `watch=true`: a stream of events. Its faults after the start are ERROR events, as clients expect. */
export function watchObjects(
  context: ResourceContext,
  resource: Resource,
  { parts, form }: { parts: WatchParts; form: WatchForm },
): ResponseBody {
  const options = readListOptions(context.query, true);
  const namespace = resource.namespaced && context.info.namespace !== '' ? context.info.namespace : undefined;
  const selection = readSelection(resource, { query: context.query, name: context.info.name });
  const revision = parseResourceVersion(options.resourceVersion);
  return {
    kind: 'stream',
    start(sink) {
      const stream = new WatchStream({
        resource,
        selection,
        namespace,
        representation: form.representation,
        sink,
      });
      const lifetime = new DisposableStore();
      lifetime.add(stream);
      scheduleEnd(options, { parts, stream, sink, lifetime });
      begin(stream, { options, revision, parts, resource }).then(
        (subscription) => lifetime.add(subscription),
        (error: unknown) => endWithError(sink, form.errorFormat, error),
      );
      return lifetime;
    },
  };
}

interface BeginInput {
  readonly options: ListOptions;
  readonly revision: number;
  readonly parts: WatchParts;
  readonly resource: Resource;
}

/** Sends what the start asks for, then follows. */
async function begin(
  stream: WatchStream,
  { options, revision, parts, resource }: BeginInput,
): Promise<Disposable> {
  const store = storeOf(resource);
  const wantsState = options.sendInitialEvents ?? revision === 0;
  if (!wantsState)
    return stream.follow(store, options.resourceVersion === '' || revision === 0 ? store.revision : revision);
  // A list-and-watch that must not be older than a revision waits for it.
  if (revision > store.revision) await parts.keyspace.waitFor(revision, stream.signal);
  const shown = await stream.sendState(store);
  if (options.sendInitialEvents && options.allowBookmarks)
    stream.sendBookmark(shown, { 'k8s.io/initial-events-end': 'true' });
  return stream.follow(store, shown);
}

interface EndInput {
  readonly parts: WatchParts;
  readonly stream: WatchStream;
  readonly sink: StreamSink;
  readonly lifetime: DisposableStore;
}

/** Bookmarks about every minute and shortly before the end; a clean end when the time is over. */
function scheduleEnd(options: ListOptions, { parts, stream, sink, lifetime }: EndInput): void {
  const seconds = options.timeoutSeconds || minimumWatchSeconds + parts.random.integer(minimumWatchSeconds);
  const { clock } = parts;
  lifetime.add(clock.schedule(seconds * 1000, () => sink.end()));
  if (!options.allowBookmarks) return;
  const bookmark = (): void => stream.sendBookmark(parts.keyspace.revision);
  if (seconds * 1000 > bookmarkBeforeEndMs)
    lifetime.add(clock.schedule(seconds * 1000 - bookmarkBeforeEndMs, bookmark));
  let timer: Disposable | undefined;
  const again = (): void => {
    bookmark();
    plan();
  };
  const plan = (): void => {
    timer = clock.schedule(bookmarkIntervalMs + parts.random.integer(bookmarkIntervalMs / 4), again);
  };
  plan();
  lifetime.add({ dispose: () => timer?.dispose() });
}

function endWithError(sink: StreamSink, format: Format, error: unknown): void {
  const told = asWatchError(error);
  sink.write(format.frame('ERROR', format.encode(told.toStatus())));
  sink.end();
}

function asWatchError(error: unknown): StatusError {
  if (error instanceof RevisionCompacted) {
    return new StatusError({
      reason: 'Expired',
      message: `too old resource version: ${error.requested} (${error.compacted})`,
      cause: error,
    });
  }
  if (StatusError.is(error)) return error;
  return new StatusError({ reason: 'InternalError', message: toError(error).message, cause: error });
}
