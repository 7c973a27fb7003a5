import { asJson, asObject, type KubeObject } from '@sheaf/api';
import { applyJsonPatch, internalError, isJsonObject, type JsonValue, jsonEqual, toError } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import type { AdmissionAnswer } from './admission-answer.ts';
import { type Invocation, reviewBody } from './admission-review.ts';
import { CompiledView } from './compiled-view.ts';
import type { AdmissionPlugin, AdmissionRequest, MutationPass } from './plugin.ts';
import { Reinvocation } from './reinvocation.ts';
import { invocationOf, type Match } from './rule-match.ts';
import { isExempt } from './scope-selectors.ts';
import {
  callWebhook,
  cannotModify,
  judgeFailure,
  matchWebhook,
  meetsConditions,
  WebhookFailure,
  type WebhookParts,
} from './webhook-call.ts';
import { compileWebhooks, type Webhook } from './webhook-configuration.ts';

const pluginName = 'MutatingAdmissionWebhook';

/** Lets webhooks change objects, one after the other, each seeing what the one before has made of it. */
export function mutatingWebhooks(views: LiveViews, parts: WebhookParts): AdmissionPlugin {
  const view = views.of('admissionregistration.k8s.io', 'mutatingwebhookconfigurations');
  const configurations = new CompiledView(view, compileWebhooks);
  return {
    name: pluginName,
    handles: (request) => configurations.list().length > 0 && !isExempt(request),
    mutate: (request, pass) => dispatch(configurations.list().flat(), { request, pass }, parts),
  };
}

interface Dispatch {
  readonly request: AdmissionRequest;
  readonly pass: MutationPass;
}

async function dispatch(
  webhooks: readonly Webhook[],
  { request, pass }: Dispatch,
  parts: WebhookParts,
): Promise<void> {
  const reinvocation = pass.memory(pluginName, () => new Reinvocation());
  reinvocation.begin(request, pass);
  for (const [index, webhook] of webhooks.entries()) {
    const match = matchWebhook(webhook, request, parts);
    if (!match || !reinvocation.includes(webhook.id, pass)) continue;
    const invocation = await invocationOf(request, match);
    if (!(await meetsConditions(webhook, { request, invocation }, parts))) continue;
    const isChanged = await runWebhook(
      { webhook, match, invocation, index, round: pass.round },
      request,
      parts,
    );
    if (isChanged) reinvocation.changed(pass);
    if (webhook.isReinvocable) reinvocation.add(webhook.id);
  }
  reinvocation.end(request);
}

interface Run {
  readonly webhook: Webhook;
  readonly match: Match;
  readonly invocation: Invocation;
  readonly index: number;
  readonly round: number;
}

/** Calls one webhook and takes over what it wants changed; answers whether that is anything. */
async function runWebhook(run: Run, request: AdmissionRequest, parts: WebhookParts): Promise<boolean> {
  const { webhook, invocation, index, round } = run;
  const place = `round_${round}_index_${index}`;
  try {
    const body = (): string => reviewBody(request, invocation);
    const answer = await callWebhook(webhook, { request, body, isMutating: true }, parts);
    const isChanged = await takeOver(answer, run, { request, parts });
    request.annotate(`mutation.webhook.admission.k8s.io/${place}`, mutationText(webhook, isChanged));
    return isChanged;
  } catch (error) {
    judgeFailure(error, webhook, {
      request,
      annotation: `failed-open.mutation.webhook.admission.k8s.io/${place}`,
    });
    return false;
  }
}

function mutationText({ configuration, name }: Webhook, mutated: boolean): string {
  return JSON.stringify({ configuration, webhook: name, mutated });
}

async function takeOver(
  answer: AdmissionAnswer,
  { webhook, match, invocation }: Run,
  { request, parts }: { request: AdmissionRequest; parts: WebhookParts },
): Promise<boolean> {
  const patch = readPatch(answer);
  if (patch.length === 0) return false;
  const { object } = invocation;
  if (!object) throw cannotModify(webhook);
  if (answer.patchType !== 'JSONPatch')
    throw new WebhookFailure(`unsupported patch type ${JSON.stringify(answer.patchType)}`);
  const patched = patchObject(object, patch);
  if (jsonEqual(asJson(object), asJson(patched))) return false;
  const own = match.version ? await match.version.convertBack(patched) : patched;
  try {
    request.object = parts.kinds.complete(request, own);
  } catch (error) {
    throw internalError(toError(error).message, error);
  }
  return true;
}

function readPatch({ patch }: AdmissionAnswer): readonly JsonValue[] {
  if (patch === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
  } catch (error) {
    throw new WebhookFailure(`received undecodable patch in webhook response: ${toError(error).message}`);
  }
  if (value === null) return [];
  if (Array.isArray(value)) return value as JsonValue[];
  throw new WebhookFailure('received undecodable patch in webhook response: it is not a list');
}

function patchObject(object: KubeObject, patch: readonly JsonValue[]): KubeObject {
  let patched: JsonValue;
  try {
    patched = applyJsonPatch(asJson(object), patch as JsonValue[]);
  } catch (error) {
    const { message } = toError(error);
    const detail = error instanceof Error && 'detail' in error ? String(error.detail) : message;
    throw internalError(detail, error);
  }
  if (isJsonObject(patched) && isJsonObject(patched['metadata'])) return asObject(patched);
  throw internalError('the patch turns the object into something that is not an object');
}
