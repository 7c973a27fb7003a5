import { badRequest, internalError, type Random, StatusError, toError } from '@sheaf/base';
import type { Authorizer } from '../authorization/attributes.ts';
import { forbiddenObject } from '../authorization/forbidden.ts';
import type { LiveView } from '../storage/live-view.ts';
import type { WebhookCaller } from '../webhook/index.ts';
import { type AdmissionAnswer, denial, readAdmissionAnswer } from './admission-answer.ts';
import { type Invocation, reviewFields, reviewText } from './admission-review.ts';
import { evaluateConditions } from './match-conditions.ts';
import type { AdmissionRequest } from './plugin.ts';
import { findVersion, type Match } from './rule-match.ts';
import { selectsNamespace, selectsObject } from './scope-selectors.ts';
import type { ServedKinds } from './served-versions.ts';
import type { Webhook } from './webhook-configuration.ts';

export interface WebhookParts {
  readonly caller: WebhookCaller;
  readonly kinds: ServedKinds;
  readonly namespaces: LiveView;
  readonly authorizer: Authorizer;
  readonly random: Random;
}

/** Whether a webhook is about a request, apart from its match conditions. @throws StatusError 404 if the namespace is missing */
export function matchWebhook(
  webhook: Webhook,
  request: AdmissionRequest,
  { kinds, namespaces }: WebhookParts,
): Match | undefined {
  const match = findVersion(webhook, request, kinds);
  if (!match || !selectsObject(webhook.objects, request)) return undefined;
  return selectsNamespace(webhook.namespaces, request, namespaces) ? match : undefined;
}

/** Whether the match conditions hold. @throws StatusError 403 if they fail and failures are not to be ignored */
export async function meetsConditions(
  webhook: Webhook,
  { request, invocation }: { request: AdmissionRequest; invocation: Invocation },
  { authorizer }: WebhookParts,
): Promise<boolean> {
  if (webhook.conditions.length === 0) return true;
  const input = {
    object: invocation.object as never,
    oldObject: invocation.oldObject as never,
    request: reviewFields(request, invocation),
  };
  const matching = await evaluateConditions(webhook.conditions, { request, input, authorizer });
  if (typeof matching === 'string') return matching === 'yes';
  if (webhook.ignoresFailures) return false;
  throw forbiddenObject({ ...request.resource, name: request.name }, matching.error);
}

/** What went wrong with a call, as opposed to what the webhook has decided. */
export class WebhookFailure extends Error {
  toStatusError(webhook: string): StatusError {
    const message = `failed calling webhook ${JSON.stringify(webhook)}: ${this.message}`;
    return new StatusError({
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
      cause: this,
    });
  }
}

/**
 * Asks a webhook. @throws StatusError for its refusal, 400 if it does not support a dry run, 504 if the request ends;
 * WebhookFailure if it gives no valid answer
 */
export async function callWebhook(
  webhook: Webhook,
  { request, body, isMutating }: { request: AdmissionRequest; body: () => string; isMutating: boolean },
  { caller, random }: WebhookParts,
): Promise<AdmissionAnswer> {
  if (request.dryRun && webhook.hasSideEffects)
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  const version = webhook.reviewVersion;
  if (!version) {
    const detail = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new WebhookFailure(`could not create admission objects: ${detail}`);
  }
  const uid = random.uuid();
  const { clientConfig, timeoutSeconds } = webhook;
  const answered = await caller
    .call(reviewText(body(), version, uid), { clientConfig, timeoutSeconds, signal: request.signal })
    .catch((error: unknown) => {
      throw new WebhookFailure(`failed to call webhook: ${toError(error).message}`, { cause: error });
    });
  const answer = checked(() => readAdmissionAnswer(answered, { uid, version, isMutating }));
  for (const [key, value] of Object.entries(answer.auditAnnotations))
    request.annotate(`${webhook.name}/${key}`, value);
  for (const warning of answer.warnings) request.warn(warning);
  if (!answer.isAllowed) throw denial(webhook.name, answer.result);
  return answer;
}

function checked(read: () => AdmissionAnswer): AdmissionAnswer {
  try {
    return read();
  } catch (error) {
    throw new WebhookFailure(`received invalid webhook response: ${toError(error).message}`, {
      cause: error,
    });
  }
}

/**
 * What a failed call means: an error, or nothing if failures are to be ignored. `annotation`: what the audit then says.
 * @throws StatusError
 */
export function judgeFailure(
  error: unknown,
  webhook: Webhook,
  { request, annotation }: { request: AdmissionRequest; annotation: string },
): void {
  if (!(error instanceof WebhookFailure)) throw error;
  if (request.signal.aborted) throw timeout();
  if (!webhook.ignoresFailures) throw error.toStatusError(webhook.name);
  request.annotate(annotation, webhook.name);
}

function timeout(): StatusError {
  return new StatusError({
    reason: 'Timeout',
    message: 'Timeout: request did not complete within requested timeout',
    details: {},
  });
}

/** The object of an operation that has none cannot be changed. */
export function cannotModify(webhook: Webhook): StatusError {
  return internalError(
    `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
  );
}
