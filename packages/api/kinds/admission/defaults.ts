import type { JsonObject } from '@sheaf/base';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { ensureSpec, fieldsAt, fill, listAt, objectAt } from '../fields.ts';

export function defaultValidatingWebhooks(configuration: KubeObject): void {
  for (const webhook of listAt(asJson(configuration), 'webhooks')) defaultWebhook(webhook);
}

export function defaultMutatingWebhooks(configuration: KubeObject): void {
  for (const webhook of listAt(asJson(configuration), 'webhooks')) {
    defaultWebhook(webhook);
    fill(webhook, 'reinvocationPolicy', 'Never');
  }
}

function defaultWebhook(webhook: JsonObject): void {
  fill(webhook, 'failurePolicy', 'Fail');
  defaultSelection(webhook);
  fill(webhook, 'timeoutSeconds', 10);
  const service = objectAt(fieldsAt(webhook, 'clientConfig'), 'service');
  if (service !== undefined) fill(service, 'port', 443);
  defaultRules(webhook, 'rules');
}

function defaultRules(parent: JsonObject, name: string): void {
  for (const rule of listAt(parent, name)) fill(rule, 'scope', '*');
}

function defaultSelection(parent: JsonObject): void {
  fill(parent, 'matchPolicy', 'Equivalent');
  fill(parent, 'namespaceSelector', {});
  fill(parent, 'objectSelector', {});
}

function defaultMatchResources(parent: JsonObject, name: string): void {
  const resources = objectAt(parent, name);
  if (resources === undefined) return;
  defaultSelection(resources);
  defaultRules(resources, 'resourceRules');
  defaultRules(resources, 'excludeResourceRules');
}

/** Policies of either kind. */
export function defaultAdmissionPolicy(policy: KubeObject): void {
  const spec = ensureSpec(policy);
  fill(spec, 'failurePolicy', 'Fail');
  defaultMatchResources(spec, 'matchConstraints');
}

export function defaultPolicyBinding(binding: KubeObject): void {
  defaultMatchResources(ensureSpec(binding), 'matchResources');
}
