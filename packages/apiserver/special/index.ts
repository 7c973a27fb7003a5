import type { SpecialHandler } from '../pipeline/special-handler.ts';
import type { BackendProxy } from '../upstream/upstream.ts';
import { componentStatusHandlers } from './component-statuses.ts';
import { evictionHandlers } from './eviction.ts';
import { partialUpdateHandlers } from './partial-updates.ts';
import { type PodParts, podHandlers } from './pods.ts';
import { proxyHandlers } from './proxies.ts';
import { type ReviewOptions, reviewHandlers } from './reviews.ts';

export { customScalePaths, scaleHandler, workloadScalePaths } from './scale.ts';

/** Everything that answers in a way of its own, apart from scale. */
export function specialHandlers(
  parts: PodParts,
  reviews: ReviewOptions & { readonly backends?: BackendProxy | undefined },
): ReadonlyMap<string, SpecialHandler> {
  return new Map([
    ...reviewHandlers(reviews),
    ...podHandlers(parts),
    ...evictionHandlers(parts, reviews.views),
    ...partialUpdateHandlers(parts),
    ...componentStatusHandlers(parts),
    ...proxyHandlers({ parts, views: reviews.views, backends: reviews.backends }),
  ]);
}
