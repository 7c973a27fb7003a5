import type { KubeObject } from '@sheaf/api';
import { internalError, type Random } from '@sheaf/base';
import { convertByWebhook } from '../custom-resource/convert.ts';
import type { Definition } from '../custom-resource/index.ts';
import type { WebhookCaller } from './webhook-caller.ts';

const timeoutSeconds = 30;

/** Converts custom resources by their definition's webhook. @throws StatusError 500 with the webhook's fault */
export function conversionByWebhook(
  caller: WebhookCaller,
  random: Random,
): (
  definition: Definition,
  objects: readonly KubeObject[],
  apiVersion: string,
) => Promise<readonly KubeObject[]> {
  // Requests share conversions and outlive each other: none of them may end one.
  const { signal } = new AbortController();
  return (definition, objects, apiVersion) => {
    const { clientConfig, reviewVersions } = definition.conversion;
    if (!clientConfig) throw internalError(`${definition.name} has no conversion webhook`);
    return convertByWebhook(objects, apiVersion, {
      webhook: {
        reviewVersions,
        uid: () => random.uuid(),
        call: (review, abort) =>
          caller.call(JSON.stringify(review), { clientConfig, timeoutSeconds, signal: abort }),
      },
      signal,
    });
  };
}
