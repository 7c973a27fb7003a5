import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import {
  ageCell,
  type CellSources,
  type Conditions,
  countOf,
  findCondition,
  nameOf,
  or,
  shaped,
} from './cell-source.ts';

interface Node {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: Conditions;
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[] | null;
    readonly nodeInfo?: Readonly<Record<string, string | undefined>>;
  };
}

interface Quota {
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
}

interface ComponentStatus {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
    readonly error?: string;
  }[];
}

interface Data {
  readonly type?: string;
  readonly data?: JsonObject | null;
  readonly binaryData?: JsonObject | null;
}

interface PriorityClass {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string | null;
}

interface ApiService {
  readonly spec?: { readonly service?: { readonly namespace?: string; readonly name?: string } | null };
  readonly status?: { readonly conditions?: Conditions };
}

const roleLabelPrefix = 'node-role.kubernetes.io/';

function nodeStatusCell({ spec, status }: Node): string {
  const ready = findCondition(status?.conditions, 'Ready');
  const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (spec?.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

function rolesCell({ metadata }: KubeObject): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(metadata.labels ?? {})) {
    if (label.startsWith(roleLabelPrefix)) roles.add(label.slice(roleLabelPrefix.length));
    else if (label === 'kubernetes.io/role') roles.add(value);
  }
  roles.delete('');
  return [...roles].sort().join(',') || '<none>';
}

function nodeCells(object: KubeObject, now: number): readonly string[] {
  const node = shaped<Node>(object);
  const info = node.status?.nodeInfo ?? {};
  const address = (type: string): string =>
    or(node.status?.addresses?.find((item) => item.type === type)?.address, '<none>');
  const kernel = info['kernelVersion'] || '<unknown>';
  return [
    nameOf(object),
    nodeStatusCell(node),
    rolesCell(object),
    ageCell(object, now),
    or(info['kubeletVersion'], ''),
    address('InternalIP'),
    address('ExternalIP'),
    info['osImage'] || '<unknown>',
    info['architecture'] ? `${kernel} (${info['architecture']})` : kernel,
    info['containerRuntimeVersion'] || '<unknown>',
  ];
}

function quotaCells({ status }: Quota): readonly [requests: string, limits: string] {
  const requests: string[] = [];
  const limits: string[] = [];
  for (const resource of Object.keys(status?.hard ?? {}).sort()) {
    const text = `${resource}: ${or(status?.used?.[resource], '0')}/${or(status?.hard?.[resource], '0')}`;
    (resource.startsWith('limits.') ? limits : requests).push(text);
  }
  return [requests.join(', '), limits.join(', ')];
}

function availabilityCell({ status }: ApiService): string {
  const condition = findCondition(status?.conditions, 'Available');
  if (!condition) return 'Unknown';
  return condition.status !== 'True' && condition.reason
    ? `${condition.status} (${condition.reason})`
    : condition.status;
}

export const clusterCells: CellSources = {
  Node: nodeCells,
  Namespace: (object, now) => {
    const { status } = shaped<{ readonly status?: { readonly phase?: string } }>(object);
    return [nameOf(object), or(status?.phase, ''), ageCell(object, now)];
  },
  ConfigMap: (object, now) => {
    const { data, binaryData } = shaped<Data>(object);
    return [nameOf(object), countOf(data) + countOf(binaryData), ageCell(object, now)];
  },
  Secret: (object, now) => {
    const { type, data } = shaped<Data>(object);
    return [nameOf(object), or(type, ''), countOf(data), ageCell(object, now)];
  },
  ServiceAccount: (object, now) => [nameOf(object), ageCell(object, now)],
  ResourceQuota: (object, now) => [
    nameOf(object),
    ...quotaCells(shaped<Quota>(object)),
    ageCell(object, now),
  ],
  ComponentStatus: (object) => {
    const healthy = shaped<ComponentStatus>(object).conditions?.find(({ type }) => type === 'Healthy');
    const status = healthy ? (healthy.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown';
    return [nameOf(object), status, or(healthy?.message, ''), or(healthy?.error, '')];
  },
  'apiregistration.k8s.io/APIService': (object, now) => {
    const apiService = shaped<ApiService>(object);
    const service = apiService.spec?.service;
    return [
      nameOf(object),
      service ? `${or(service.namespace, '')}/${or(service.name, '')}` : 'Local',
      availabilityCell(apiService),
      ageCell(object, now),
    ];
  },
  'scheduling.k8s.io/PriorityClass': (object, now) => {
    const { value, globalDefault, preemptionPolicy } = shaped<PriorityClass>(object);
    return [
      nameOf(object),
      or(value, 0),
      or(globalDefault, false),
      ageCell(object, now),
      or(preemptionPolicy, ''),
    ];
  },
  'coordination.k8s.io/Lease': (object, now) => {
    const { spec } = shaped<{ readonly spec?: { readonly holderIdentity?: string | null } }>(object);
    return [nameOf(object), or(spec?.holderIdentity, ''), ageCell(object, now)];
  },
  'node.k8s.io/RuntimeClass': (object, now) => {
    const { handler } = shaped<{ readonly handler?: string }>(object);
    return [nameOf(object), or(handler, ''), ageCell(object, now)];
  },
};
