import type { JsonObject } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { Desired } from './desired.ts';

/** Marks what is kept as written here until a user sets it to "false". */
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec';

interface Queues {
  readonly queues: number;
  readonly handSize: number;
}

interface Level {
  readonly shares: number;
  readonly lendablePercent: number;
  readonly queues?: Queues;
}

const levels: Readonly<Record<string, Level | 'exempt'>> = {
  exempt: 'exempt',
  'catch-all': { shares: 5, lendablePercent: 0 },
  system: { shares: 30, lendablePercent: 33, queues: { queues: 64, handSize: 6 } },
  'node-high': { shares: 40, lendablePercent: 25, queues: { queues: 64, handSize: 6 } },
  'leader-election': { shares: 10, lendablePercent: 0, queues: { queues: 16, handSize: 4 } },
  'workload-high': { shares: 40, lendablePercent: 50, queues: { queues: 128, handSize: 6 } },
  'workload-low': { shares: 100, lendablePercent: 90, queues: { queues: 128, handSize: 6 } },
  'global-default': { shares: 20, lendablePercent: 50, queues: { queues: 128, handSize: 6 } },
};

const everything = resourceRule(['*'], { groups: ['*'], resources: ['*'] }, true);
const everyPath: JsonObject = { verbs: ['*'], nonResourceURLs: ['*'] };
const everyone = groups('system:unauthenticated', 'system:authenticated');
const systemAccounts: JsonObject[] = [
  { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } },
];
const leases = { groups: ['coordination.k8s.io'], resources: ['leases'] };
const unrestricted: JsonObject = { resourceRules: [everything], nonResourceRules: [everyPath] };

interface Schema {
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher?: 'ByUser' | 'ByNamespace';
  readonly subjects: JsonObject[];
  readonly rules: JsonObject;
}

const schemas: Readonly<Record<string, Schema>> = {
  exempt: { level: 'exempt', precedence: 1, subjects: groups('system:masters'), rules: unrestricted },
  probes: {
    level: 'exempt',
    precedence: 2,
    subjects: everyone,
    rules: {
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    },
  },
  'system-leader-election': {
    level: 'leader-election',
    precedence: 100,
    distinguisher: 'ByUser',
    subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), ...systemAccounts],
    rules: { resourceRules: [resourceRule(['get', 'create', 'update'], leases, false)] },
  },
  'system-node-high': {
    level: 'node-high',
    precedence: 400,
    distinguisher: 'ByUser',
    subjects: groups('system:nodes'),
    rules: {
      resourceRules: [
        resourceRule(['*'], { groups: [''], resources: ['nodes', 'nodes/status'] }, true),
        resourceRule(['*'], leases, false),
      ],
    },
  },
  'system-nodes': {
    level: 'system',
    precedence: 500,
    distinguisher: 'ByUser',
    subjects: groups('system:nodes'),
    rules: unrestricted,
  },
  'kube-controller-manager': {
    level: 'workload-high',
    precedence: 800,
    distinguisher: 'ByNamespace',
    subjects: users('system:kube-controller-manager'),
    rules: unrestricted,
  },
  'kube-scheduler': {
    level: 'workload-high',
    precedence: 800,
    distinguisher: 'ByNamespace',
    subjects: users('system:kube-scheduler'),
    rules: unrestricted,
  },
  'kube-system-service-accounts': {
    level: 'workload-high',
    precedence: 900,
    distinguisher: 'ByNamespace',
    subjects: systemAccounts,
    rules: unrestricted,
  },
  'service-accounts': {
    level: 'workload-low',
    precedence: 9000,
    distinguisher: 'ByUser',
    subjects: groups('system:serviceaccounts'),
    rules: unrestricted,
  },
  'global-default': {
    level: 'global-default',
    precedence: 9900,
    distinguisher: 'ByUser',
    subjects: everyone,
    rules: unrestricted,
  },
  'catch-all': {
    level: 'catch-all',
    precedence: 10_000,
    distinguisher: 'ByUser',
    subjects: everyone,
    rules: unrestricted,
  },
};

/** The default priority levels and flow schemas, as clients look for them. */
export function desiredFlowControl(): readonly Desired[] {
  return [
    ...Object.entries(levels).map(([name, level]) => ({
      resource: resources.priorityLevels,
      object: { metadata: metadataOf(name), spec: levelSpec(level) },
      sections: [],
    })),
    ...Object.entries(schemas).map(([name, schema]) => ({
      resource: resources.flowSchemas,
      object: { metadata: metadataOf(name), spec: schemaSpec(schema) },
      sections: [],
    })),
  ];
}

function metadataOf(name: string): { name: string; annotations: Record<string, string> } {
  return { name, annotations: { [autoUpdate]: 'true' } };
}

function levelSpec(level: Level | 'exempt'): JsonObject {
  if (level === 'exempt')
    return { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };
  const limitResponse: JsonObject = level.queues
    ? { type: 'Queue', queuing: { ...level.queues, queueLengthLimit: 50 } }
    : { type: 'Reject' };
  return {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: level.shares,
      lendablePercent: level.lendablePercent,
      limitResponse,
    },
  };
}

function schemaSpec({ level, precedence, distinguisher, subjects, rules }: Schema): JsonObject {
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(distinguisher ? { distinguisherMethod: { type: distinguisher } } : {}),
    rules: [{ subjects, ...rules }],
  };
}

function groups(...names: string[]): JsonObject[] {
  return names.map((name) => ({ kind: 'Group', group: { name } }));
}

function users(...names: string[]): JsonObject[] {
  return names.map((name) => ({ kind: 'User', user: { name } }));
}

function resourceRule(
  verbs: string[],
  target: { groups: string[]; resources: string[] },
  clusterScope: boolean,
): JsonObject {
  return {
    verbs,
    apiGroups: target.groups,
    resources: target.resources,
    ...(clusterScope ? { clusterScope } : {}),
    namespaces: ['*'],
  };
}
