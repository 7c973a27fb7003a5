import type { LiveViews } from '../storage/live-view.ts';
import { type Invocation, reviewBody } from './admission-review.ts';
import { CompiledView } from './compiled-view.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { invocationOf, type Match } from './rule-match.ts';
import { isExempt } from './scope-selectors.ts';
import {
  callWebhook,
  judgeFailure,
  matchWebhook,
  meetsConditions,
  type WebhookParts,
} from './webhook-call.ts';
import { compileWebhooks, type Webhook } from './webhook-configuration.ts';

/** Asks every matching webhook at once; the first refusal in the order of the configurations is the answer. */
export function validatingWebhooks(views: LiveViews, parts: WebhookParts): AdmissionPlugin {
  const view = views.of('admissionregistration.k8s.io', 'validatingwebhookconfigurations');
  const configurations = new CompiledView(view, compileWebhooks);
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (request) => configurations.list().length > 0 && !isExempt(request),
    validate: (request) => dispatch(configurations.list().flat(), request, parts),
  };
}

interface Call {
  readonly webhook: Webhook;
  readonly body: () => string;
}

async function dispatch(
  webhooks: readonly Webhook[],
  request: AdmissionRequest,
  parts: WebhookParts,
): Promise<void> {
  const calls = await planCalls(webhooks, request, parts);
  const results = await Promise.allSettled(
    calls.map(({ webhook, body }, index) => {
      const annotation = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`;
      return callWebhook(webhook, { request, body, isMutating: false }, parts).catch((error: unknown) =>
        judgeFailure(error, webhook, { request, annotation }),
      );
    }),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Objects are converted and written as text once for each version that is wanted. */
async function planCalls(
  webhooks: readonly Webhook[],
  request: AdmissionRequest,
  parts: WebhookParts,
): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const seen = new Map<string, Seen>();
  for (const webhook of webhooks) {
    const match = matchWebhook(webhook, request, parts);
    if (!match) continue;
    const { invocation, body } = await see(request, match, seen);
    if (await meetsConditions(webhook, { request, invocation }, parts)) calls.push({ webhook, body });
  }
  return calls;
}

interface Seen {
  readonly invocation: Invocation;
  readonly body: () => string;
}

async function see(request: AdmissionRequest, match: Match, seen: Map<string, Seen>): Promise<Seen> {
  const { group, version } = match.version?.resource ?? request.resource;
  const key = `${group}/${version}`;
  const known = seen.get(key);
  if (known) return known;
  const invocation = await invocationOf(request, match);
  let text: string | undefined;
  const made = { invocation, body: () => (text ??= reviewBody(request, invocation)) };
  seen.set(key, made);
  return made;
}
