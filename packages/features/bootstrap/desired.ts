import type { KubeObject } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';

/** One object that must be there; `sections` are kept as written here, everything else is its users'. */
export interface Desired {
  readonly resource: ResourceRef;
  readonly object: KubeObject;
  /** Fields that are restored when they differ; none: only existence is wanted. */
  readonly sections: readonly string[];
}

/** What the objects of a new control plane say about it. */
export interface ControlPlaneFacts {
  /** First address of the service network, e.g. 10.43.0.1. */
  readonly serviceAddress: string;
  /** e.g. 10.43.0.0/16 */
  readonly serviceNetwork: string;
  /** Where clients on other machines reach the server; none while it listens on the loopback only. */
  readonly endpoint: { readonly address: string; readonly port: number } | undefined;
  /** Where the server listens. */
  readonly port: number;
  /** PEM: what servers and clients of this control plane are trusted by. */
  readonly authority: string;
  readonly frontProxyAuthority: string;
  /** As in kubeconfigs. */
  readonly url: string;
}

export const systemNamespaces = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const;

export function desiredNamespace(name: string): Desired {
  return { resource: resources.namespaces, object: { metadata: { name } }, sections: [] };
}

const systemPriority = 2_000_000_000;

export const desiredPriorityClasses: readonly Desired[] = [
  priorityClass('system-node-critical', {
    value: systemPriority + 1000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  }),
  priorityClass('system-cluster-critical', {
    value: systemPriority,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  }),
];

function priorityClass(name: string, fields: { value: number; description: string }): Desired {
  return {
    resource: resources.priorityClasses,
    object: { metadata: { name }, ...fields },
    sections: [],
  };
}

/** The Service `kubernetes`, where programs inside look for the API. */
export function desiredService(facts: ControlPlaneFacts): Desired {
  return {
    resource: resources.services,
    object: {
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        type: 'ClusterIP',
        clusterIP: facts.serviceAddress,
        clusterIPs: [facts.serviceAddress],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
        sessionAffinity: 'None',
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: facts.port }],
      },
    },
    sections: [],
  };
}

/** Both forms of the Service's addresses. A loopback address is none: nobody else could use it. */
export function desiredEndpoints({ endpoint, port }: ControlPlaneFacts): readonly Desired[] {
  const ports = [{ name: 'https', port: endpoint?.port ?? port, protocol: 'TCP' }];
  return [
    {
      resource: resources.endpointSlices,
      object: {
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          labels: { 'kubernetes.io/service-name': 'kubernetes' },
        },
        addressType: endpoint?.address.includes(':') ? 'IPv6' : 'IPv4',
        endpoints: endpoint ? [{ addresses: [endpoint.address], conditions: { ready: true } }] : [],
        ports,
      },
      sections: ['endpoints', 'ports'],
    },
    {
      resource: resources.endpoints,
      object: {
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
        },
        ...(endpoint ? { subsets: [{ addresses: [{ ip: endpoint.address }], ports }] } : {}),
      },
      sections: ['subsets'],
    },
  ];
}

export function desiredServiceCidr(facts: ControlPlaneFacts): Desired {
  return {
    resource: resources.serviceCidrs,
    object: { metadata: { name: 'kubernetes' }, spec: { cidrs: [facts.serviceNetwork] } },
    sections: [],
  };
}

/** What aggregated API servers read to trust this one. */
export function desiredAuthentication(facts: ControlPlaneFacts): Desired {
  return {
    resource: resources.configMaps,
    object: {
      metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
      data: {
        'client-ca-file': facts.authority,
        'requestheader-allowed-names': '[]',
        'requestheader-client-ca-file': facts.frontProxyAuthority,
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-uid-headers': '["X-Remote-Uid"]',
        'requestheader-username-headers': '["X-Remote-User"]',
      },
    },
    sections: ['data'],
  };
}

/** How to find and trust this control plane, without credentials. */
export function desiredClusterInfo({ url, authority }: ControlPlaneFacts): Desired {
  const kubeconfig = [
    'apiVersion: v1',
    'kind: Config',
    'preferences: {}',
    'clusters:',
    '- name: ""',
    '  cluster:',
    `    certificate-authority-data: ${Buffer.from(authority).toString('base64')}`,
    `    server: ${url}`,
    'contexts: null',
    'current-context: ""',
    'users: null',
    '',
  ].join('\n');
  return {
    resource: resources.configMaps,
    object: { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig } },
    sections: ['data'],
  };
}
