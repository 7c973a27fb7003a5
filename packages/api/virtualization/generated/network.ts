// Written by generate/write-definitions.ts; see generated/NOTICE of this package.

import type { KubeObject } from '../../meta/object.ts';

export interface NetworkAttachmentDefinition extends KubeObject {
  readonly spec?: NetworkAttachmentDefinitionSpec;
}

export interface NetworkAttachmentDefinitionSpec {
  readonly config?: string;
}

export interface ClusterNetwork extends KubeObject {
  readonly status?: ClusterNetworkStatus;
}

export interface ClusterNetworkStatus {
  readonly conditions?: readonly {
    /** Last time the condition transitioned from one status to another. */
    readonly lastTransitionTime?: string;
    /** The last time this condition was updated. */
    readonly lastUpdateTime?: string;
    /** Human-readable message indicating details about last transition */
    readonly message?: string;
    /** The reason for the condition's last transition. */
    readonly reason?: string;
    /** Status of the condition, one of True, False, Unknown. */
    readonly status: string;
    /** Type of the condition. */
    readonly type: string;
  }[];
}

export interface VlanConfig extends KubeObject {
  readonly spec: VlanConfigSpec;
}

export interface VlanConfigSpec {
  readonly clusterNetwork: string;
  readonly description?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly uplink: Uplink;
}

export interface Uplink {
  /** reference: https://www.kernel.org/doc/Documentation/networking/bonding.txt */
  readonly bondOptions?: {
    readonly miimon?: number;
    readonly mode?: 'balance-rr' | 'active-backup' | 'balance-xor' | 'broadcast' | '802.3ad' | 'balance-tlb' | 'balance-alb';
  };
  readonly linkAttributes?: {
    /** A HardwareAddr represents a physical hardware address. */
    readonly hardwareAddr?: string;
    readonly mtu?: number;
    readonly txQLen?: number;
  };
  readonly nics?: readonly string[];
}

export interface VlanStatus extends KubeObject {
  readonly status: VlanStatusStatus;
}

export interface VlanStatusStatus {
  readonly clusterNetwork: string;
  readonly conditions?: readonly {
    /** Last time the condition transitioned from one status to another. */
    readonly lastTransitionTime?: string;
    /** The last time this condition was updated. */
    readonly lastUpdateTime?: string;
    /** Human-readable message indicating details about last transition */
    readonly message?: string;
    /** The reason for the condition's last transition. */
    readonly reason?: string;
    /** Status of the condition, one of True, False, Unknown. */
    readonly status: string;
    /** Type of the condition. */
    readonly type: string;
  }[];
  readonly linkMonitor: string;
  readonly localAreas?: readonly {
    readonly cidr?: string;
    readonly vlanID: number;
  }[];
  readonly node: string;
  readonly vlanConfig: string;
}

export interface LinkMonitor extends KubeObject {
  readonly spec: LinkMonitorSpec;
  readonly status?: LinkMonitorStatus;
}

export interface LinkMonitorSpec {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly targetLinkRule?: {
    /** Support regular expression and empty value means matching all */
    readonly nameRule?: string;
    /** Support regular expression and empty value means matching all */
    readonly typeRule?: string;
  };
}

export interface LinkMonitorStatus {
  readonly conditions?: readonly {
    /** Last time the condition transitioned from one status to another. */
    readonly lastTransitionTime?: string;
    /** The last time this condition was updated. */
    readonly lastUpdateTime?: string;
    /** Human-readable message indicating details about last transition */
    readonly message?: string;
    /** The reason for the condition's last transition. */
    readonly reason?: string;
    /** Status of the condition, one of True, False, Unknown. */
    readonly status: string;
    /** Type of the condition. */
    readonly type: string;
  }[];
  readonly linkStatus?: Readonly<Record<string, readonly {
    readonly index?: number;
    readonly mac?: string;
    readonly masterIndex?: number;
    readonly name: string;
    readonly promiscuous?: boolean;
    readonly state?: 'up' | 'down';
    readonly type?: string;
  }[]>>;
}

export interface LoadBalancer extends KubeObject {
  readonly spec: LoadBalancerSpec;
  readonly status?: LoadBalancerStatus;
}

export interface LoadBalancerSpec {
  readonly backendServerSelector?: Readonly<Record<string, readonly string[]>>;
  readonly description?: string;
  readonly healthCheck?: {
    readonly failureThreshold?: number;
    readonly periodSeconds?: number;
    readonly port?: number;
    readonly successThreshold?: number;
    readonly timeoutSeconds?: number;
  };
  readonly ipPool?: string;
  readonly ipam?: 'pool' | 'dhcp';
  readonly listeners?: readonly Listener[];
  readonly workloadType?: 'vm' | 'cluster';
}

export interface LoadBalancerStatus {
  readonly address?: string;
  readonly allocatedAddress?: {
    readonly gateway?: string;
    readonly ip?: string;
    readonly ipPool?: string;
    readonly mask?: string;
  };
  readonly backendServers?: readonly string[];
  readonly conditions?: readonly {
    /** Last time the condition transitioned from one status to another. */
    readonly lastTransitionTime?: string;
    /** The last time this condition was updated. */
    readonly lastUpdateTime?: string;
    /** Human-readable message indicating details about last transition */
    readonly message?: string;
    /** The reason for the condition's last transition. */
    readonly reason?: string;
    /** Status of the condition, one of True, False, Unknown. */
    readonly status: string;
    /** Type of the condition. */
    readonly type: string;
  }[];
}

export interface Listener {
  readonly backendPort: number;
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
}

export interface IPPool extends KubeObject {
  readonly spec: IPPoolSpec;
  readonly status?: IPPoolStatus;
}

export interface IPPoolSpec {
  readonly description?: string;
  readonly ranges: readonly IPRange[];
  readonly selector?: {
    readonly network?: string;
    readonly priority?: number;
    readonly scope?: readonly {
      readonly guestCluster?: string;
      readonly namespace?: string;
      readonly project?: string;
    }[];
  };
}

export interface IPPoolStatus {
  readonly allocated?: Readonly<Record<string, string>>;
  readonly allocatedHistory?: Readonly<Record<string, string>>;
  readonly available: number;
  readonly conditions?: readonly {
    /** Last time the condition transitioned from one status to another. */
    readonly lastTransitionTime?: string;
    /** The last time this condition was updated. */
    readonly lastUpdateTime?: string;
    /** Human-readable message indicating details about last transition */
    readonly message?: string;
    /** The reason for the condition's last transition. */
    readonly reason?: string;
    /** Status of the condition, one of True, False, Unknown. */
    readonly status: string;
    /** Type of the condition. */
    readonly type: string;
  }[];
  readonly lastAllocated: string;
  readonly total: number;
}

/** Range refers to github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator.Range */
export interface IPRange {
  readonly gateway?: string;
  readonly rangeEnd?: string;
  readonly rangeStart?: string;
  readonly subnet: string;
}
