import { badRequest, StatusError } from '@sheaf/base';
import { FutureRevision, RevisionCompacted } from '@sheaf/store';
import {
  type ContinueToken,
  decodeContinueToken,
  encodeContinueToken,
  expiredToken,
} from '../options/continue-token.ts';
import { type ListOptions, parseResourceVersion, readListOptions } from '../options/list-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import type { ListMeta } from '../representation/representation.ts';
import { type ServedObject, serveEntries } from '../representation/served-object.ts';
import type { Entry } from '../storage/entry.ts';
import type { Place, ResourceStore } from '../storage/resource-store.ts';
import { storeOf } from './create.ts';
import { expired } from './errors.ts';
import { type ReadParts, waitForRevision } from './get.ts';
import { readSelection, type Selection } from './selection.ts';

export interface ListResult {
  readonly items: readonly ServedObject[];
  readonly meta: ListMeta;
}

/** What part of which state is read. */
interface Plan {
  /** The state shown; `undefined`: the newest. */
  readonly exact: number | undefined;
  readonly after: Place | undefined;
  readonly limit: number;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly hasMore: boolean;
  /** Entries behind the page; known only where nothing is selected. */
  readonly remaining: number | undefined;
}

/** GET on a collection. */
export async function listObjects(
  context: ResourceContext,
  resource: Resource,
  parts: ReadParts,
): Promise<ListResult> {
  const options = readListOptions(context.query, false);
  const selection = readSelection(resource, { query: context.query, name: context.info.name });
  const token = options.continueToken === '' ? undefined : decodeContinueToken(options.continueToken);
  const plan = await planList(options, token, { parts, signal: context.request.signal });
  const namespace = resource.namespaced && context.info.namespace !== '' ? context.info.namespace : undefined;
  const page = await readPage(storeOf(resource), { plan, selection, namespace, token });
  return { items: await serveEntries(resource, page.entries), meta: metaOf(page, plan) };
}

async function planList(
  options: ListOptions,
  token: ContinueToken | undefined,
  wait: { parts: ReadParts; signal: AbortSignal },
): Promise<Plan> {
  if (token)
    return {
      exact: token.revision < 0 ? undefined : token.revision,
      after: token.after,
      limit: options.limit,
    };
  const wanted = listedVersion(options.resourceVersion);
  const isExact = options.match === 'Exact' || (options.match === '' && wanted > 0 && options.limit > 0);
  if (wanted > wait.parts.keyspace.revision) await waitForRevision(wanted, wait.parts, wait.signal);
  // From the cache upstream answers without a limit; a client that asks for any state gets pages all the same here.
  return { exact: isExact ? wanted : undefined, after: undefined, limit: options.limit };
}

function listedVersion(text: string): number {
  try {
    return parseResourceVersion(text);
  } catch (error) {
    throw StatusError.is(error) ? badRequest(`invalid resource version: ${error.message}`, error) : error;
  }
}

interface PageInput {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly namespace: string | undefined;
  readonly token: ContinueToken | undefined;
}

async function readPage(store: ResourceStore, input: PageInput): Promise<Page> {
  const { plan, namespace } = input;
  // A state since which nothing of this resource has changed is the present one.
  if (plan.exact === undefined || plan.exact >= store.lastChange) {
    return cut(store.entries(namespace, plan.after), input, plan.exact ?? store.revision);
  }
  try {
    const past = await store.entriesAt(plan.exact, {
      namespace,
      ...(plan.after ? { after: plan.after } : {}),
    });
    return cut(past.entries, input, plan.exact);
  } catch (error) {
    throw asListError(error, input.token);
  }
}

function asListError(error: unknown, token: ContinueToken | undefined): unknown {
  if (error instanceof RevisionCompacted) {
    return token
      ? expiredToken(token.after)
      : expired('The resourceVersion for the provided list is too old.');
  }
  if (error instanceof FutureRevision)
    return expired('The provided continue parameter is of a state that this server does not have.');
  return error;
}

/** The entries that are selected, up to the limit; counts what is left where a client may know. */
function cut(entries: Iterable<Entry>, { plan, selection }: PageInput, revision: number): Page {
  const page: Entry[] = [];
  let left = 0;
  for (const entry of entries) {
    if (!isSelected(selection, entry)) continue;
    if (plan.limit === 0 || page.length < plan.limit) page.push(entry);
    else left++;
    // With a selector nobody is told how many are left; one more is enough to know that there are.
    if (left === 1 && !selection.isEverything) break;
  }
  return {
    entries: page,
    revision,
    hasMore: left > 0,
    remaining: selection.isEverything && left > 0 ? left : undefined,
  };
}

function isSelected(selection: Selection, entry: Entry): boolean {
  if (selection.isEverything) return true;
  if (selection.name !== undefined && entry.name !== selection.name) return false;
  return selection.matches(entry.object);
}

function metaOf(page: Page, plan: Plan): ListMeta {
  const resourceVersion = String(page.revision);
  const last = page.entries.at(-1);
  if (!page.hasMore || !last || plan.limit === 0) return { resourceVersion };
  const token = encodeContinueToken({
    revision: page.revision,
    after: { namespace: last.namespace, name: last.name },
  });
  return {
    resourceVersion,
    continue: token,
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}
