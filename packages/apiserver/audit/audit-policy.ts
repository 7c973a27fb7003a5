import type { User } from '../authentication/user.ts';
import type { RequestInfo, ResourceRequestInfo } from '../pipeline/request-info.ts';

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';

/** One rule of an `audit.k8s.io/v1 Policy`. An absent list means everything. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  /** Without resources and nonResourceURLs a rule is about both. */
  readonly resources?: readonly AuditResources[];
  readonly namespaces?: readonly string[];
  /** A `*` at the end stands for any rest. */
  readonly nonResourceURLs?: readonly string[];
  /** Stages of which no event is written. */
  readonly omitStages?: readonly string[];
  /** Bodies are written without who set which field. */
  readonly omitManagedFields?: boolean;
}

export interface AuditResources {
  readonly group?: string;
  /** `pods`, `pods/log`, `*`, `pods/*`, and every status; absent: all of the group. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface AuditPolicy {
  /** The first that fits decides; without one nothing is logged. */
  readonly rules: readonly AuditRule[];
  /** A refusal for want of rights is logged whatever the rules say. */
  readonly logsRefusals?: boolean;
  /** A stream in both directions is logged whatever the rules say: who gets at a console with `get` acts on it. */
  readonly logsUpgrades?: boolean;
}

const reads = ['get', 'list', 'watch'];

/**
 * Every write, every stream in both directions, every look at a secret, and every refusal for want of rights. Other reads are left out:
 * they are most of the traffic and change nothing.
 */
export const usualAuditPolicy: AuditPolicy = {
  logsRefusals: true,
  logsUpgrades: true,
  rules: [
    { level: 'None', verbs: ['get', 'head'], nonResourceURLs: ['*'] },
    { level: 'None', resources: [{ group: '', resources: ['events'] }, { group: 'events.k8s.io' }] },
    { level: 'None', users: ['system:apiserver', 'system:kube-controller-manager'], verbs: reads },
    { level: 'Metadata', verbs: reads, resources: [{ group: '', resources: ['secrets'] }] },
    { level: 'None', verbs: reads },
    {
      level: 'None',
      verbs: ['create'],
      resources: [
        { group: 'authorization.k8s.io', resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] },
      ],
    },
    { level: 'Metadata' },
  ],
};

const nothing: AuditRule = { level: 'None' };

export function ruleFor(policy: AuditPolicy, info: RequestInfo, user: User): AuditRule {
  return policy.rules.find((rule) => fits(rule, info, user)) ?? nothing;
}

/** Whether bodies may be wanted at all. */
export function wantsBodies(policy: AuditPolicy): boolean {
  return policy.rules.some(({ level }) => level === 'Request' || level === 'RequestResponse');
}

function fits(rule: AuditRule, info: RequestInfo, user: User): boolean {
  return (
    includes(rule.verbs, info.verb) &&
    includes(rule.users, user.name) &&
    (!rule.userGroups?.length || rule.userGroups.some((group) => user.groups.includes(group))) &&
    fitsTarget(rule, info)
  );
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return !list?.length || list.includes(value);
}

function fitsTarget(rule: AuditRule, info: RequestInfo): boolean {
  return info.isResource ? fitsAnyResource(rule, info) : fitsPath(rule, info.path);
}

function fitsPath({ resources, namespaces, nonResourceURLs }: AuditRule, path: string): boolean {
  if (nonResourceURLs?.length) return nonResourceURLs.some((pattern) => fitsPattern(pattern, path));
  return !resources?.length && !namespaces?.length;
}

function fitsAnyResource(rule: AuditRule, info: ResourceRequestInfo): boolean {
  const { resources, namespaces, nonResourceURLs } = rule;
  if (nonResourceURLs?.length || !includes(namespaces, info.namespace)) return false;
  return !resources?.length || resources.some((item) => fitsResource(item, info));
}

function fitsPattern(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

function fitsResource(item: AuditResources, info: ResourceRequestInfo): boolean {
  if ((item.group ?? '') !== info.group) return false;
  if (!includes(item.resourceNames, info.name)) return false;
  return !item.resources?.length || item.resources.some((name) => fitsName(name, info));
}

function fitsName(pattern: string, { resource, subresource }: ResourceRequestInfo): boolean {
  if (pattern === '*') return true;
  const [name = '', sub = ''] = pattern.split('/');
  if (name !== '*' && name !== resource) return false;
  return sub === '*' ? subresource !== '' : sub === subresource;
}
