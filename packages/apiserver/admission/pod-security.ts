import { asJson, invalidObject, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { violationsOf, violationText } from './pod-security-checks.ts';
import {
  compareLevels,
  freePolicy,
  isFree,
  type LevelVersion,
  levelText,
  readSecurityPolicy,
  type SecurityPolicy,
} from './pod-security-labels.ts';
import type { SecuritySubject } from './pod-security-subject.ts';
import { isFor, refusal } from './refusal.ts';

/** Where the template of a pod is, by kind. */
const templates: ReadonlyMap<string, readonly string[]> = new Map([
  ['/podtemplates', ['template']],
  ['/replicationcontrollers', ['spec', 'template']],
  ['apps/deployments', ['spec', 'template']],
  ['apps/replicasets', ['spec', 'template']],
  ['apps/statefulsets', ['spec', 'template']],
  ['apps/daemonsets', ['spec', 'template']],
  ['batch/jobs', ['spec', 'template']],
  ['batch/cronjobs', ['spec', 'jobTemplate', 'spec', 'template']],
]);

const podSubresources: ReadonlySet<string> = new Set(['', 'ephemeralcontainers', 'resize']);
const namespaceResource = { group: '', resource: 'namespaces' };

/** Holds pods to the level that the labels of their namespace say, and warns of workloads whose pods will be refused. */
export function podSecurity(views: LiveViews): AdmissionPlugin {
  const namespaces = views.of('', 'namespaces');
  const pods = views.of('', 'pods');
  return {
    name: 'PodSecurity',
    handles: (request) =>
      request.object !== undefined &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      isSubject(request),
    validate(request) {
      if (isFor(request, namespaceResource)) return checkNamespace(request, pods);
      const policy = policyOf(namespaces, request.namespace);
      if (isPod(request)) return checkPod(request, policy);
      return checkTemplate(request, policy);
    },
  };
}

function isPod({ resource }: AdmissionRequest): boolean {
  return resource.resource === 'pods' && resource.group === '';
}

function isSubject(request: AdmissionRequest): boolean {
  if (isPod(request)) return podSubresources.has(request.subresource);
  if (request.subresource !== '') return false;
  const { group, resource } = request.resource;
  return isFor(request, namespaceResource) || templates.has(`${group}/${resource}`);
}

function policyOf(namespaces: LiveView, name: string): SecurityPolicy {
  const labels = namespaces.get('', name)?.metadata.labels;
  return labels ? readSecurityPolicy(labels) : freePolicy;
}

function checkPod(request: AdmissionRequest, policy: SecurityPolicy): void {
  const { object, oldObject } = request;
  if (!object || (oldObject && !isSignificant(object, oldObject))) return;
  request.annotate('pod-security.kubernetes.io/enforce-policy', levelText(policy.enforce));
  if (isFree(policy) && policy.errors.length === 0) return;
  const subject = { metadata: object.metadata, spec: objectAt(asJson(object), 'spec') };
  const found = violationsOf(policy.enforce, subject);
  tellOthers(request, policy, { subject, warns: found.length === 0 });
  if (found.length === 0) return;
  throw refusal(
    request,
    `violates PodSecurity ${JSON.stringify(levelText(policy.enforce))}: ${violationText(found)}`,
  );
}

function checkTemplate(request: AdmissionRequest, policy: SecurityPolicy): void {
  if (!request.object) return;
  const isQuiet = policy.warn.level === 'privileged' && policy.audit.level === 'privileged';
  if (isQuiet && policy.errors.length === 0) return;
  const { group, resource } = request.resource;
  const subject = templateOf(asJson(request.object), templates.get(`${group}/${resource}`) ?? []);
  if (subject) tellOthers(request, policy, { subject, warns: true });
}

type Subject = Omit<SecuritySubject, 'minor'>;

function templateOf(object: JsonObject, path: readonly string[]): Subject | undefined {
  let place: unknown = object;
  for (const field of path) place = isJsonObject(place) ? place[field] : undefined;
  if (!isJsonObject(place) || !isJsonObject(place['spec'])) return undefined;
  return { metadata: objectAt(place, 'metadata'), spec: place['spec'] };
}

function tellOthers(
  request: AdmissionRequest,
  { audit, warn, errors }: SecurityPolicy,
  { subject, warns }: { readonly subject: Subject; readonly warns: boolean },
): void {
  if (errors.length > 0) {
    const texts = errors.map(({ field, message }) => `${field}: ${message}`);
    const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
    request.annotate('pod-security.kubernetes.io/error', `Failed to parse policy: ${text}`);
  }
  const audited = wouldViolate(audit, subject);
  if (audited) request.annotate('pod-security.kubernetes.io/audit-violations', audited);
  const warning = warns ? wouldViolate(warn, subject) : undefined;
  if (warning) request.warn(warning);
}

function wouldViolate(level: LevelVersion, subject: Subject): string | undefined {
  const found = violationsOf(level, subject);
  if (found.length === 0) return undefined;
  return `would violate PodSecurity ${JSON.stringify(levelText(level))}: ${violationText(found)}`;
}

/** Of a pod that is there only new images and new containers matter. */
function isSignificant(next: KubeObject, old: KubeObject): boolean {
  const [after, before] = [objectAt(next, 'spec'), objectAt(old, 'spec')];
  for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
    const images = new Map(
      objectsAt(before, list).map((item) => [textAt(item, 'name'), textAt(item, 'image')]),
    );
    const containers = objectsAt(after, list);
    if (list !== 'ephemeralContainers' && containers.length !== images.size) return true;
    if (containers.some((item) => images.get(textAt(item, 'name')) !== textAt(item, 'image'))) return true;
  }
  return false;
}

const maxCheckedPods = 3000;

function checkNamespace(request: AdmissionRequest, pods: LiveView): void {
  const { object, oldObject } = request;
  if (!object?.metadata.labels) return;
  const policy = readSecurityPolicy(object.metadata.labels);
  const old = readSecurityPolicy(oldObject?.metadata.labels);
  const name = object.metadata.name ?? '';
  const isNewFault = JSON.stringify(policy.errors) !== JSON.stringify(old.errors);
  if (policy.errors.length > 0 && (!oldObject || isNewFault))
    throw invalidObject({ kind: 'Namespace', group: '', name }, policy.errors);
  if (oldObject && isStricter(policy.enforce, old.enforce))
    warnOfPods(request, policy.enforce, pods.list(name));
}

function isStricter(next: LevelVersion, old: LevelVersion): boolean {
  if (next.level === 'privileged') return false;
  return next.minor !== old.minor || compareLevels(next.level, old.level) > 0;
}

function warnOfPods(request: AdmissionRequest, enforce: LevelVersion, pods: readonly KubeObject[]): void {
  const byReason = new Map<string, string[]>();
  for (const pod of pods.slice(0, maxCheckedPods)) {
    const found = violationsOf(enforce, { metadata: pod.metadata, spec: objectAt(pod, 'spec') });
    if (found.length === 0) continue;
    const reason = found.map((violation) => violation.reason).join(', ');
    byReason.set(reason, [...(byReason.get(reason) ?? []), pod.metadata.name ?? '']);
  }
  if (pods.length > maxCheckedPods) {
    request.warn(
      `new PodSecurity enforce level only checked against the first ${maxCheckedPods} of ${pods.length} existing pods`,
    );
  }
  if (byReason.size === 0) return;
  const subject = JSON.stringify(request.object?.metadata.name ?? '');
  request.warn(
    `existing pods in namespace ${subject} violate the new PodSecurity enforce level ${JSON.stringify(levelText(enforce))}`,
  );
  for (const text of [...byReason].map(([reason, names]) => `${podsText(names)}: ${reason}`).sort())
    request.warn(text);
}

function podsText(names: readonly string[]): string {
  const [first = ''] = names.toSorted();
  if (names.length === 1) return first;
  return names.length === 2 ? `${first} (and 1 other pod)` : `${first} (and ${names.length - 1} other pods)`;
}
