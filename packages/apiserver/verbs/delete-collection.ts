import { StatusError } from '@sheaf/base';
import { readDeleteOptions } from '../options/delete-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import type { ServedObject } from '../representation/served-object.ts';
import { deleteAt, readOptionsBody } from './delete.ts';
import type { ReadParts } from './get.ts';
import { type ListResult, listObjects } from './list.ts';
import type { WriteParts } from './write-parts.ts';

/** Deletions under way at once; they share the store's commits. */
const concurrency = 256;

/** DELETE on a collection: answers the list of what was deleted. */
export async function deleteCollection(
  context: ResourceContext,
  resource: Resource,
  parts: WriteParts & ReadParts,
): Promise<ListResult> {
  const options = readDeleteOptions(await readOptionsBody(context), context.query);
  const found = await listObjects(context, resource, parts);
  for (let start = 0; start < found.items.length; start += concurrency) {
    const batch = found.items.slice(start, start + concurrency);
    await Promise.all(batch.map((item) => deleteItem(item)));
  }
  // The answer shows the objects as they were when they were chosen.
  return found;

  async function deleteItem(item: ServedObject): Promise<void> {
    try {
      await deleteAt(context, resource, { place: item.place, options, parts });
    } catch (error) {
      // Someone else was faster: it is not there any more, as wanted.
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }
}
