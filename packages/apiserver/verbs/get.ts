import type { Clock } from '@sheaf/base';
import { parseResourceVersion } from '../options/list-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import { type ServedObject, serveEntry } from '../representation/served-object.ts';
import type { Keyspace } from '../storage/keyspace.ts';
import { storeOf } from './create.ts';
import { notFound, resourceVersionTooLarge } from './errors.ts';
import { requestedPlace } from './incoming-object.ts';

export interface ReadParts {
  readonly clock: Clock;
  readonly keyspace: Keyspace;
}

/** How long a read waits for a version that has not happened yet. */
const freshnessWaitMs = 3000;

/** GET on a name. */
export async function getObject(
  context: ResourceContext,
  resource: Resource,
  parts: ReadParts,
): Promise<ServedObject> {
  const wanted = parseResourceVersion(context.query.get('resourceVersion') ?? '');
  if (wanted > parts.keyspace.revision) await waitForRevision(wanted, parts, context.request.signal);
  const entry = storeOf(resource).get(requestedPlace(context, resource));
  if (!entry) throw notFound(resource, context.info.name);
  return serveEntry(resource, entry);
}

/** @throws StatusError 504 with cause ResourceVersionTooLarge */
export async function waitForRevision(wanted: number, parts: ReadParts, signal: AbortSignal): Promise<void> {
  const patience = new AbortController();
  const timer = parts.clock.schedule(freshnessWaitMs, () => patience.abort());
  const isReached = await parts.keyspace.waitFor(wanted, AbortSignal.any([patience.signal, signal]));
  timer.dispose();
  if (!isReached) throw resourceVersionTooLarge(wanted, parts.keyspace.revision);
}
