import {
  type AdmissionContext,
  type AdmissionMutation,
  type AdmissionObjects,
  type AdmissionRule,
  asJson,
  asObject,
  type Denied,
  type GroupResource,
  type KubeObject,
  type Patched,
  type Replaced,
} from '@sheaf/api';
import { applyJsonPatch, type Clock, type Random, type StatusDetails, StatusError } from '@sheaf/base';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/plugin.ts';
import type { Authorizer } from '../authorization/attributes.ts';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { refusalOf } from './api-call.ts';

export interface RuleParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly views: LiveViews;
  readonly authorizer: Authorizer;
}

/** The rules of features as steps of admission, in their order. */
export function admissionRules(
  rules: readonly AdmissionRule[],
  parts: RuleParts,
): readonly AdmissionPlugin[] {
  return rules.map((rule) => rulePlugin(rule, parts));
}

function rulePlugin(rule: AdmissionRule, parts: RuleParts): AdmissionPlugin {
  const objects = objectsOf(rule, parts.views);
  const { mutate, validate } = rule;
  const contextOf = (request: AdmissionRequest): AdmissionContext => ruleContext(request, objects, parts);
  return {
    name: rule.name,
    handles: (request) => isAbout(rule, request),
    ...(mutate
      ? {
          async mutate(request: AdmissionRequest): Promise<void> {
            apply(request, await mutate(request.object, request.oldObject, contextOf(request)));
          },
        }
      : {}),
    ...(validate
      ? {
          async validate(request: AdmissionRequest): Promise<void> {
            apply(request, await validate(request.object, request.oldObject, contextOf(request)));
          },
        }
      : {}),
  };
}

function isAbout({ targets, operations }: AdmissionRule, request: AdmissionRequest): boolean {
  if (!operations.includes(request.operation)) return false;
  const { resource, subresource } = request;
  return targets.some(
    (target) =>
      target.resource === resource.resource &&
      target.group === resource.group &&
      (target.subresource ?? '') === subresource,
  );
}

function apply(request: AdmissionRequest, decision: AdmissionMutation): void {
  for (const text of decision.warnings ?? []) request.warn(text);
  switch (decision.decision) {
    case 'allow':
      return;
    case 'deny':
      throw denial(request, decision);
    case 'refuse':
      throw decision.error;
    case 'replace':
    case 'patch':
      if (request.object) request.object = changed(request.object, decision);
  }
}

function changed(object: KubeObject, decision: Patched | Replaced): KubeObject {
  if (decision.decision === 'replace') return decision.object;
  return asObject(applyJsonPatch(asJson(object), decision.operations));
}

/** kubectl shows the causes of an invalid object, and nothing else once it knows which object is meant. */
function denial(request: AdmissionRequest, denied: Denied): StatusError {
  const { reason, code, wayOut, causes = [] } = denied;
  const message = sentences(denied.message, wayOut);
  const isBare = reason === 'Invalid' && causes.length === 0;
  const details: StatusDetails = {
    ...(isBare ? {} : subjectOf(request)),
    ...(causes.length > 0
      ? { causes: causes.map((cause, index) => withWayOut(cause, index === causes.length - 1 ? wayOut : '')) }
      : {}),
  };
  return new StatusError({ reason, message, details, ...(code === undefined ? {} : { code }) });
}

type Cause = NonNullable<StatusDetails['causes']>[number];

function withWayOut(cause: Cause, wayOut: string): Cause {
  return wayOut === '' ? cause : { ...cause, message: sentences(cause.message ?? '', wayOut) };
}

function sentences(message: string, wayOut: string): string {
  if (message === '') return wayOut;
  return `${message}${message.endsWith('.') ? '' : '.'} ${wayOut}`;
}

function subjectOf({ resource, name, object, kind }: AdmissionRequest): StatusDetails {
  const subject = name || object?.metadata.name || object?.metadata.generateName || '';
  return {
    ...(subject ? { name: subject } : {}),
    ...(resource.group ? { group: resource.group } : {}),
    kind: kind.kind,
  };
}

function ruleContext(
  request: AdmissionRequest,
  objects: AdmissionObjects,
  { clock, random, authorizer }: RuleParts,
): AdmissionContext {
  const { operation, kind, resource, subresource, namespace, name, user, dryRun, options } = request;
  return {
    operation,
    kind,
    resource,
    subresource,
    namespace,
    name,
    user,
    dryRun,
    options,
    now: clock.now(),
    random,
    objects,
    may: async (question) => (await refusalOf(authorizer, user, question)) === undefined,
  };
}

/** Views are held from the start, so that they are loaded before the first request. */
function objectsOf({ name, reads = [] }: AdmissionRule, views: LiveViews): AdmissionObjects {
  const held = new Map(
    reads.map((resource) => [keyOf(resource), views.of(resource.group, resource.resource)]),
  );
  const viewOf = (resource: GroupResource): LiveView => {
    const view = held.get(keyOf(resource));
    if (view) return view;
    throw new Error(`the admission rule ${name} looks at ${keyOf(resource)}: name it among its reads`);
  };
  return {
    find: (resource, ref): KubeObject | undefined => viewOf(resource).get(ref.namespace ?? '', ref.name),
    list: (resource, namespace) => viewOf(resource).list(namespace),
  };
}

function keyOf({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}
