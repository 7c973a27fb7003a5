// Written by generate/write-definitions.ts; see generated/NOTICE of this package.

import type { KubeObject, ObjectMeta } from '../../meta/object.ts';

/** VirtualMachineInstance is *the* VirtualMachineInstance Definition. */
export interface VirtualMachineInstance extends KubeObject {
  /** VirtualMachineInstance Spec contains the VirtualMachineInstance specification. */
  readonly spec: VirtualMachineInstanceSpec;
  /** Status is the high level overview of how the VirtualMachineInstance is doing. */
  readonly status?: VirtualMachineInstanceStatus;
}

/** VirtualMachineInstance Spec contains the VirtualMachineInstance specification. */
export interface VirtualMachineInstanceSpec {
  /** Specifies a set of public keys to inject into the vm guest */
  readonly accessCredentials?: readonly {
    /** SSHPublicKey represents the source and method of applying a ssh public key into a guest virtual machine. */
    readonly sshPublicKey?: {
      /** PropagationMethod represents how the public key is injected into the vm guest. */
      readonly propagationMethod: {
        /** ConfigDrivePropagation means that the ssh public keys are injected into the VM using metadata using the configDrive cloud-init provider */
        readonly configDrive?: Readonly<Record<string, unknown>>;
        /** NoCloudPropagation means that the ssh public keys are injected into the VM using metadata using the noCloud cloud-init provider */
        readonly noCloud?: Readonly<Record<string, unknown>>;
        /** QemuGuestAgentAccessCredentailPropagation means ssh public keys are dynamically injected into the vm at runtime via the qemu guest agent. */
        readonly qemuGuestAgent?: {
          /** Users represents a list of guest users that should have the ssh public keys added to their authorized_keys file. */
          readonly users: readonly string[];
        };
      };
      /** Source represents where the public keys are pulled from */
      readonly source: {
        /** Secret means that the access credential is pulled from a kubernetes secret */
        readonly secret?: {
          /** SecretName represents the name of the secret in the VMI's namespace */
          readonly secretName: string;
        };
      };
    };
    /** UserPassword represents the source and method for applying a guest user's password */
    readonly userPassword?: {
      /** propagationMethod represents how the user passwords are injected into the vm guest. */
      readonly propagationMethod: {
        /** QemuGuestAgentAccessCredentailPropagation means passwords are dynamically injected into the vm at runtime via the qemu guest agent. */
        readonly qemuGuestAgent?: Readonly<Record<string, unknown>>;
      };
      /** Source represents where the user passwords are pulled from */
      readonly source: {
        /** Secret means that the access credential is pulled from a kubernetes secret */
        readonly secret?: {
          /** SecretName represents the name of the secret in the VMI's namespace */
          readonly secretName: string;
        };
      };
    };
  }[];
  /** If affinity is specifies, obey all the affinity rules */
  readonly affinity?: Affinity;
  /** Specifies the architecture of the vm guest you are attempting to run. */
  readonly architecture?: string;
  /** Specifies the DNS parameters of a pod. */
  readonly dnsConfig?: {
    /** A list of DNS name server IP addresses. */
    readonly nameservers?: readonly string[];
    /** A list of DNS resolver options. */
    readonly options?: readonly {
      /** Name is this DNS resolver option's name. */
      readonly name?: string;
      /** Value is this DNS resolver option's value. */
      readonly value?: string;
    }[];
    /** A list of DNS search domains for host-name lookup. */
    readonly searches?: readonly string[];
  };
  /** Set DNS policy for the pod. */
  readonly dnsPolicy?: string;
  /** Specification of the desired behavior of the VirtualMachineInstance on the host. */
  readonly domain: DomainSpec;
  /** EvictionStrategy describes the strategy to follow when a node drain occurs. */
  readonly evictionStrategy?: string;
  /** Specifies the hostname of the vmi If not specified, the hostname will be set to the name of the vmi, if dhcp or cloud-init is configured properly. */
  readonly hostname?: string;
  /** Periodic probe of VirtualMachineInstance liveness. */
  readonly livenessProbe?: {
    /** One and only one of the following should be specified. */
    readonly exec?: {
      /** Command is the command line to execute inside the container, the working directory for the command is root ('/') in the container's filesystem. */
      readonly command?: readonly string[];
    };
    /** Minimum consecutive failures for the probe to be considered failed after having succeeded. */
    readonly failureThreshold?: number;
    /** GuestAgentPing contacts the qemu-guest-agent for availability checks. */
    readonly guestAgentPing?: Readonly<Record<string, unknown>>;
    /** HTTPGet specifies the http request to perform. */
    readonly httpGet?: {
      /** Host name to connect to, defaults to the pod IP. */
      readonly host?: string;
      /** Custom headers to set in the request. */
      readonly httpHeaders?: readonly {
        /** The header field name. */
        readonly name: string;
        /** The header field value */
        readonly value: string;
      }[];
      /** Path to access on the HTTP server. */
      readonly path?: string;
      /** Name or number of the port to access on the container. */
      readonly port: string | number;
      /** Scheme to use for connecting to the host. */
      readonly scheme?: string;
    };
    /** Number of seconds after the VirtualMachineInstance has started before liveness probes are initiated. */
    readonly initialDelaySeconds?: number;
    /** How often (in seconds) to perform the probe. */
    readonly periodSeconds?: number;
    /** Minimum consecutive successes for the probe to be considered successful after having failed. */
    readonly successThreshold?: number;
    /** TCPSocket specifies an action involving a TCP port. */
    readonly tcpSocket?: {
      /** Optional: Host name to connect to, defaults to the pod IP. */
      readonly host?: string;
      /** Number or name of the port to access on the container. */
      readonly port: string | number;
    };
    /** Number of seconds after which the probe times out. */
    readonly timeoutSeconds?: number;
  };
  /** List of networks that can be attached to a vm's virtual interface. */
  readonly networks?: readonly Network[];
  /** NodeSelector is a selector which must be true for the vmi to fit on a node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** If specified, indicates the pod's priority. */
  readonly priorityClassName?: string;
  /** Periodic probe of VirtualMachineInstance service readiness. */
  readonly readinessProbe?: {
    /** One and only one of the following should be specified. */
    readonly exec?: {
      /** Command is the command line to execute inside the container, the working directory for the command is root ('/') in the container's filesystem. */
      readonly command?: readonly string[];
    };
    /** Minimum consecutive failures for the probe to be considered failed after having succeeded. */
    readonly failureThreshold?: number;
    /** GuestAgentPing contacts the qemu-guest-agent for availability checks. */
    readonly guestAgentPing?: Readonly<Record<string, unknown>>;
    /** HTTPGet specifies the http request to perform. */
    readonly httpGet?: {
      /** Host name to connect to, defaults to the pod IP. */
      readonly host?: string;
      /** Custom headers to set in the request. */
      readonly httpHeaders?: readonly {
        /** The header field name. */
        readonly name: string;
        /** The header field value */
        readonly value: string;
      }[];
      /** Path to access on the HTTP server. */
      readonly path?: string;
      /** Name or number of the port to access on the container. */
      readonly port: string | number;
      /** Scheme to use for connecting to the host. */
      readonly scheme?: string;
    };
    /** Number of seconds after the VirtualMachineInstance has started before liveness probes are initiated. */
    readonly initialDelaySeconds?: number;
    /** How often (in seconds) to perform the probe. */
    readonly periodSeconds?: number;
    /** Minimum consecutive successes for the probe to be considered successful after having failed. */
    readonly successThreshold?: number;
    /** TCPSocket specifies an action involving a TCP port. */
    readonly tcpSocket?: {
      /** Optional: Host name to connect to, defaults to the pod IP. */
      readonly host?: string;
      /** Number or name of the port to access on the container. */
      readonly port: string | number;
    };
    /** Number of seconds after which the probe times out. */
    readonly timeoutSeconds?: number;
  };
  /** ResourceClaims define which ResourceClaims must be allocated and reserved before the VMI, hence virt-launcher pod is allowed to start. */
  readonly resourceClaims?: readonly {
    /** Name uniquely identifies this resource claim inside the pod. */
    readonly name: string;
    /** ResourceClaimName is the name of a ResourceClaim object in the same namespace as this pod. */
    readonly resourceClaimName?: string;
    /** ResourceClaimTemplateName is the name of a ResourceClaimTemplate object in the same namespace as this pod. */
    readonly resourceClaimTemplateName?: string;
  }[];
  /** If specified, the VMI will be dispatched by specified scheduler. */
  readonly schedulerName?: string;
  /** StartStrategy can be set to "Paused" if Virtual Machine should be started in paused state. */
  readonly startStrategy?: string;
  /** If specified, the fully qualified vmi hostname will be "<hostname>.<subdomain>.<pod namespace>.svc.<cluster domain>". */
  readonly subdomain?: string;
  /** Grace period observed after signalling a VirtualMachineInstance to stop after which the VirtualMachineInstance is force terminated. */
  readonly terminationGracePeriodSeconds?: number;
  /** If toleration is specified, obey all the toleration rules. */
  readonly tolerations?: readonly {
    /** Effect indicates the taint effect to match. */
    readonly effect?: string;
    /** Key is the taint key that the toleration applies to. */
    readonly key?: string;
    /** Operator represents a key's relationship to the value. */
    readonly operator?: string;
    /** TolerationSeconds represents the period of time the toleration (which must be of effect NoExecute, otherwise this field is ignored) tolerates the taint. */
    readonly tolerationSeconds?: number;
    /** Value is the taint value the toleration matches to. */
    readonly value?: string;
  }[];
  /** TopologySpreadConstraints describes how a group of VMIs will be spread across a given topology domains. */
  readonly topologySpreadConstraints?: readonly {
    /** LabelSelector is used to find matching pods. */
    readonly labelSelector?: {
      /** matchExpressions is a list of label selector requirements. */
      readonly matchExpressions?: readonly {
        /** key is the label key that the selector applies to. */
        readonly key: string;
        /** operator represents a key's relationship to a set of values. */
        readonly operator: string;
        /** values is an array of string values. */
        readonly values?: readonly string[];
      }[];
      /** matchLabels is a map of {key,value} pairs. */
      readonly matchLabels?: Readonly<Record<string, string>>;
    };
    /** MatchLabelKeys is a set of pod label keys to select the pods over which spreading will be calculated. */
    readonly matchLabelKeys?: readonly string[];
    /** MaxSkew describes the degree to which pods may be unevenly distributed. */
    readonly maxSkew: number;
    /** MinDomains indicates a minimum number of eligible domains. */
    readonly minDomains?: number;
    /** NodeAffinityPolicy indicates how we will treat Pod's nodeAffinity/nodeSelector when calculating pod topology spread skew. */
    readonly nodeAffinityPolicy?: string;
    /** NodeTaintsPolicy indicates how we will treat node taints when calculating pod topology spread skew. */
    readonly nodeTaintsPolicy?: string;
    /** TopologyKey is the key of node labels. */
    readonly topologyKey: string;
    /** WhenUnsatisfiable indicates how to deal with a pod if it doesn't satisfy the spread constraint. */
    readonly whenUnsatisfiable: string;
  }[];
  /** List of utility volumes that can be mounted to the vmi virt-launcher pod without having a matching disk in the domain. */
  readonly utilityVolumes?: readonly {
    /** claimName is the name of a PersistentVolumeClaim in the same namespace as the pod using this volume. */
    readonly claimName: string;
    /** UtilityVolume's name. */
    readonly name: string;
    /** readOnly Will force the ReadOnly setting in VolumeMounts. */
    readonly readOnly?: boolean;
    /** Type represents the type of the utility volume. */
    readonly type?: string;
  }[];
  /** List of volumes that can be mounted by disks belonging to the vmi. */
  readonly volumes?: readonly Volume[];
}

/** Status is the high level overview of how the VirtualMachineInstance is doing. */
export interface VirtualMachineInstanceStatus {
  /** VSOCKCID is used to track the allocated VSOCK CID in the VM. */
  readonly VSOCKCID?: number;
  /** ActivePods is a mapping of pod UID to node name. */
  readonly activePods?: Readonly<Record<string, string>>;
  /** ChangedBlockTracking represents the status of the changedBlockTracking */
  readonly changedBlockTracking?: {
    /** BackupStatus represents the status of vmi backup */
    readonly backupStatus?: {
      /** BackupMsg resturns any relevant information like failure reason unfreeze failed etc... */
      readonly backupMsg?: string;
      /** BackupName is the name of the executed backup */
      readonly backupName?: string;
      /** CheckpointName is the name of the checkpoint created for the backup */
      readonly checkpointName?: string;
      /** Completed indicates the backup completed */
      readonly completed?: boolean;
      /** EndTimestamp is the timestamp when the backup ended */
      readonly endTimestamp?: string;
      /** Failed indicates that the backup failed */
      readonly failed?: boolean;
      /** StartTimestamp is the timestamp when the backup started */
      readonly startTimestamp?: string;
      /** Volumes lists the volumes included in the backup */
      readonly volumes?: readonly {
        /** DataEndpoint is the URL of the endpoint for read for pull mode */
        readonly dataEndpoint?: string;
        /** DiskTarget is the disk target device name at backup time */
        readonly diskTarget: string;
        /** MapEndpoint is the URL of the endpoint for map for pull mode */
        readonly mapEndpoint?: string;
        /** VolumeName is the volume name from VMI spec */
        readonly volumeName: string;
      }[];
    } | null;
    /** State represents the current CBT state */
    readonly state: string;
  } | null;
  /** Conditions are specific points in VirtualMachineInstance's pod runtime. */
  readonly conditions?: readonly {
    readonly lastProbeTime?: string | null;
    readonly lastTransitionTime?: string | null;
    readonly message?: string;
    readonly reason?: string;
    readonly status: string;
    readonly type: string;
  }[];
  /** CurrentCPUTopology specifies the current CPU topology used by the VM workload. */
  readonly currentCPUTopology?: {
    /** Cores specifies the number of cores inside the vmi. */
    readonly cores?: number;
    /** Sockets specifies the number of sockets inside the vmi. */
    readonly sockets?: number;
    /** Threads specifies the number of threads inside the vmi. */
    readonly threads?: number;
  };
  /** EvacuationNodeName is used to track the eviction process of a VMI. */
  readonly evacuationNodeName?: string;
  /** FSFreezeStatus indicates whether a freeze operation was requested for the guest filesystem. */
  readonly fsFreezeStatus?: string;
  /** Guest OS Information */
  readonly guestOSInfo?: {
    /** Guest OS Id */
    readonly id?: string;
    /** Guest OS Kernel Release */
    readonly kernelRelease?: string;
    /** Kernel version of the Guest OS */
    readonly kernelVersion?: string;
    /** Machine type of the Guest OS */
    readonly machine?: string;
    /** Name of the Guest OS */
    readonly name?: string;
    /** Guest OS Pretty Name */
    readonly prettyName?: string;
    /** Guest OS Version */
    readonly version?: string;
    /** Version ID of the Guest OS */
    readonly versionId?: string;
  };
  /** Interfaces represent the details of available network interfaces. */
  readonly interfaces?: readonly {
    /** Specifies the origin of the interface data collected. */
    readonly infoSource?: string;
    /** The interface name inside the Virtual Machine */
    readonly interfaceName?: string;
    /** IP address of a Virtual Machine interface. */
    readonly ipAddress?: string;
    /** List of all IP addresses of a Virtual Machine interface */
    readonly ipAddresses?: readonly string[];
    /** LinkState Reports the current operational link state'. */
    readonly linkState?: string;
    /** Hardware address of a Virtual Machine interface */
    readonly mac?: string;
    /** Name of the interface, corresponds to name of the network assigned to the interface */
    readonly name?: string;
    /** PodInterfaceName represents the name of the pod network interface */
    readonly podInterfaceName?: string;
    /** Specifies how many queues are allocated by MultiQueue */
    readonly queueCount?: number;
  }[];
  /** KernelBootStatus contains info about the kernelBootContainer */
  readonly kernelBootStatus?: {
    /** InitrdInfo show info about the initrd file */
    readonly initrdInfo?: {
      /** Checksum is the checksum of the initrd file */
      readonly checksum?: number;
    };
    /** KernelInfo show info about the kernel image */
    readonly kernelInfo?: {
      /** Checksum is the checksum of the kernel image */
      readonly checksum?: number;
    };
  };
  /** LauncherContainerImageVersion indicates what container image is currently active for the vmi. */
  readonly launcherContainerImageVersion?: string;
  /** Machine shows the final resulting qemu machine type. */
  readonly machine?: {
    /** QEMU machine type is the actual chipset of the VirtualMachineInstance. */
    readonly type?: string;
  };
  /** Memory shows various informations about the VirtualMachine memory. */
  readonly memory?: {
    /** GuestAtBoot specifies with how much memory the VirtualMachine intiallly booted with. */
    readonly guestAtBoot?: string | number;
    /** GuestCurrent specifies how much memory is currently available for the VirtualMachine. */
    readonly guestCurrent?: string | number;
    /** GuestRequested specifies how much memory was requested (hotplug) for the VirtualMachine. */
    readonly guestRequested?: string | number;
    /** MemoryOverhead specifies the memory overhead added by the virtualization infrastructure for the virt-launcher pod. */
    readonly memoryOverhead?: string | number;
  };
  /** MigratedVolumes lists the source and destination volumes during the volume migration */
  readonly migratedVolumes?: readonly {
    /** DestinationPVCInfo contains the information about the destination PVC */
    readonly destinationPVCInfo?: {
      /** AccessModes contains the desired access modes the volume should have. */
      readonly accessModes?: readonly string[];
      /** Capacity represents the capacity set on the corresponding PVC status */
      readonly capacity?: Readonly<Record<string, string | number>>;
      /** ClaimName is the name of the PVC */
      readonly claimName?: string;
      /** Percentage of filesystem's size to be reserved when resizing the PVC */
      readonly filesystemOverhead?: string;
      /** Preallocated indicates if the PVC's storage is preallocated or not */
      readonly preallocated?: boolean;
      /** Requests represents the resources requested by the corresponding PVC spec */
      readonly requests?: Readonly<Record<string, string | number>>;
      /** VolumeMode defines what type of volume is required by the claim. */
      readonly volumeMode?: string;
    };
    /** SourcePVCInfo contains the information about the source PVC */
    readonly sourcePVCInfo?: {
      /** AccessModes contains the desired access modes the volume should have. */
      readonly accessModes?: readonly string[];
      /** Capacity represents the capacity set on the corresponding PVC status */
      readonly capacity?: Readonly<Record<string, string | number>>;
      /** ClaimName is the name of the PVC */
      readonly claimName?: string;
      /** Percentage of filesystem's size to be reserved when resizing the PVC */
      readonly filesystemOverhead?: string;
      /** Preallocated indicates if the PVC's storage is preallocated or not */
      readonly preallocated?: boolean;
      /** Requests represents the resources requested by the corresponding PVC spec */
      readonly requests?: Readonly<Record<string, string | number>>;
      /** VolumeMode defines what type of volume is required by the claim. */
      readonly volumeMode?: string;
    };
    /** VolumeName is the name of the volume that is being migrated */
    readonly volumeName: string;
  }[];
  /** Represents the method using which the vmi can be migrated: live migration or block migration */
  readonly migrationMethod?: string;
  /** Represents the status of a live migration */
  readonly migrationState?: {
    /** Indicates that the migration has been requested to abort */
    readonly abortRequested?: boolean;
    /** Indicates the final status of the live migration abortion */
    readonly abortStatus?: string;
    /** Indicates the migration completed */
    readonly completed?: boolean;
    /** The time the migration action ended */
    readonly endTimestamp?: string | null;
    /** Indicates that the migration failed */
    readonly failed?: boolean;
    /** Contains the reason why the migration failed */
    readonly failureReason?: string;
    /** Migration configurations to apply */
    readonly migrationConfiguration?: {
      /** AllowAutoConverge allows the platform to compromise performance/availability of VMIs to guarantee successful VMI live migrations. */
      readonly allowAutoConverge?: boolean;
      /** AllowPostCopy enables post-copy live migrations. */
      readonly allowPostCopy?: boolean;
      /** AllowWorkloadDisruption indicates that the migration shouldn't be canceled after acceptableCompletionTime is exceeded. */
      readonly allowWorkloadDisruption?: boolean;
      /** BandwidthPerMigration limits the amount of network bandwidth live migrations are allowed to use. */
      readonly bandwidthPerMigration?: string | number;
      /** CompletionTimeoutPerGiB is the maximum number of seconds per GiB a migration is allowed to take. */
      readonly completionTimeoutPerGiB?: number;
      /** When set to true, DisableTLS will disable the additional layer of live migration encryption provided by KubeVirt. */
      readonly disableTLS?: boolean;
      /** By default, the SELinux level of target virt-launcher pods is forced to the level of the source virt-launcher. */
      readonly matchSELinuxLevelOnMigration?: boolean;
      /** Network is the name of the CNI network to use for live migrations. */
      readonly network?: string;
      /** NodeDrainTaintKey defines the taint key that indicates a node should be drained. */
      readonly nodeDrainTaintKey?: string;
      /** ParallelMigrationsPerCluster is the total number of concurrent live migrations allowed cluster-wide. */
      readonly parallelMigrationsPerCluster?: number;
      /** ParallelOutboundMigrationsPerNode is the maximum number of concurrent outgoing live migrations allowed per node. */
      readonly parallelOutboundMigrationsPerNode?: number;
      /** ProgressTimeout is the maximum number of seconds a live migration is allowed to make no progress. */
      readonly progressTimeout?: number;
      /** UnsafeMigrationOverride allows live migrations to occur even if the compatibility check indicates the migration will be unsafe to the guest. */
      readonly unsafeMigrationOverride?: boolean;
      /** UtilityVolumesTimeout is the maximum number of seconds a migration can wait in Pending state for utility volumes to be detached. */
      readonly utilityVolumesTimeout?: number;
    };
    /** The type of migration network, either 'pod' or 'migration' */
    readonly migrationNetworkType?: string;
    /** Name of the migration policy. */
    readonly migrationPolicyName?: string;
    /** The VirtualMachineInstanceMigration object associated with this migration */
    readonly migrationUid?: string;
    /** Lets us know if the vmi is currently running pre or post copy migration */
    readonly mode?: string;
    /** The source node that the VMI originated on */
    readonly sourceNode?: string;
    /** If the VMI being migrated uses persistent features (backend-storage), its source PVC name is saved here */
    readonly sourcePersistentStatePVCName?: string;
    readonly sourcePod?: string;
    /** SourceState contains migration state managed by the source virt handler */
    readonly sourceState?: {
      /** The name of the domain on the source libvirt domain */
      readonly domainName?: string;
      /** Namespace used in the name of the source libvirt domain. */
      readonly domainNamespace?: string;
      /** The Source VirtualMachineInstanceMigration object associated with this migration */
      readonly migrationUID?: string;
      /** The source node that the VMI originated on */
      readonly node?: string;
      /** Node selectors needed by the target to start the receiving pod. */
      readonly nodeSelectors?: Readonly<Record<string, string>>;
      /** If the VMI being migrated uses persistent features (backend-storage), its source PVC name is saved here */
      readonly persistentStatePVCName?: string;
      /** The source pod that the VMI is originated on */
      readonly pod?: string;
      /** SELinuxContext is the actual SELinux context of the pod */
      readonly selinuxContext?: string;
      /** The ip address/fqdn:port combination to use to synchronize the VMI with the target. */
      readonly syncAddress?: string;
      /** VirtualMachineInstanceUID is the UID of the target virtual machine instance */
      readonly virtualMachineInstanceUID?: string;
    };
    /** The time the migration action began */
    readonly startTimestamp?: string | null;
    /** The UID of the target attachment pod for hotplug volumes */
    readonly targetAttachmentPodUID?: string;
    /** If the VMI requires dedicated CPUs, this field will hold the dedicated CPU set on the target node */
    readonly targetCPUSet?: readonly number[];
    /** The list of ports opened for live migration on the destination node */
    readonly targetDirectMigrationNodePorts?: Readonly<Record<string, number>>;
    /** TargetMemoryOverhead is the memory overhead of the target virt-launcher pod */
    readonly targetMemoryOverhead?: string | number;
    /** The target node that the VMI is moving to */
    readonly targetNode?: string;
    /** The address of the target node to use for the migration */
    readonly targetNodeAddress?: string;
    /** The Target Node has seen the Domain Start Event */
    readonly targetNodeDomainDetected?: boolean;
    /** The timestamp at which the target node detects the domain is active */
    readonly targetNodeDomainReadyTimestamp?: string;
    /** If the VMI requires dedicated CPUs, this field will hold the numa topology on the target node */
    readonly targetNodeTopology?: string;
    /** If the VMI being migrated uses persistent features (backend-storage), its target PVC name is saved here */
    readonly targetPersistentStatePVCName?: string;
    /** The target pod that the VMI is moving to */
    readonly targetPod?: string;
    /** TargetState contains migration state managed by the target virt handler */
    readonly targetState?: {
      /** The UID of the target attachment pod for hotplug volumes */
      readonly attachmentPodUID?: string;
      /** If the VMI requires dedicated CPUs, this field will hold the dedicated CPU set on the target node */
      readonly cpuSet?: readonly number[];
      /** The list of ports opened for live migration on the destination node */
      readonly directMigrationNodePorts?: Readonly<Record<string, number>>;
      /** The Target Node has seen the Domain Start Event */
      readonly domainDetected?: boolean;
      /** The name of the domain on the source libvirt domain */
      readonly domainName?: string;
      /** Namespace used in the name of the source libvirt domain. */
      readonly domainNamespace?: string;
      /** The timestamp at which the target node detects the domain is active */
      readonly domainReadyTimestamp?: string;
      /** The Source VirtualMachineInstanceMigration object associated with this migration */
      readonly migrationUID?: string;
      /** The source node that the VMI originated on */
      readonly node?: string;
      /** The address of the target node to use for the migration */
      readonly nodeAddress?: string;
      /** If the VMI requires dedicated CPUs, this field will hold the numa topology on the target node */
      readonly nodeTopology?: string;
      /** If the VMI being migrated uses persistent features (backend-storage), its source PVC name is saved here */
      readonly persistentStatePVCName?: string;
      /** The source pod that the VMI is originated on */
      readonly pod?: string;
      /** SELinuxContext is the actual SELinux context of the pod */
      readonly selinuxContext?: string;
      /** The ip address/fqdn:port combination to use to synchronize the VMI with the target. */
      readonly syncAddress?: string;
      /** VirtualMachineInstanceUID is the UID of the target virtual machine instance */
      readonly virtualMachineInstanceUID?: string;
    };
  };
  /** This represents the migration transport */
  readonly migrationTransport?: string;
  /** NodeName is the name where the VirtualMachineInstance is currently running. */
  readonly nodeName?: string;
  /** Phase is the status of the VirtualMachineInstance in kubernetes world. */
  readonly phase?: string;
  /** PhaseTransitionTimestamp is the timestamp of when the last phase change occurred */
  readonly phaseTransitionTimestamps?: readonly {
    /** Phase is the status of the VirtualMachineInstance in kubernetes world. */
    readonly phase?: string;
    /** PhaseTransitionTimestamp is the timestamp of when the phase change occurred */
    readonly phaseTransitionTimestamp?: string;
  }[];
  /** The Quality of Service (QOS) classification assigned to the virtual machine instance based on resource requirements See PodQOSClass type for available QOS classes More info: https://git.k8s.io/community/contributors/design-proposals/node/resource-qos.md */
  readonly qosClass?: string;
  /** A brief CamelCase message indicating details about why the VMI is in this state. */
  readonly reason?: string;
  /** RuntimeUser is used to determine what user will be used in launcher */
  readonly runtimeUser?: number;
  /** SELinuxContext is the actual SELinux context of the virt-launcher pod */
  readonly selinuxContext?: string;
  readonly topologyHints?: {
    readonly tscFrequency?: number;
  };
  /** VirtualMachineRevisionName is used to get the vm revision of the vmi when doing an online vm snapshot */
  readonly virtualMachineRevisionName?: string;
  /** VolumeStatus contains the statuses of all the volumes */
  readonly volumeStatus?: readonly {
    /** ContainerDiskVolume shows info about the containerdisk, if the volume is a containerdisk */
    readonly containerDiskVolume?: {
      /** Checksum is the checksum of the rootdisk or kernel artifacts inside the containerdisk */
      readonly checksum?: number;
    };
    /** If the volume is hotplug, this will contain the hotplug status. */
    readonly hotplugVolume?: {
      /** AttachPodName is the name of the pod used to attach the volume to the node. */
      readonly attachPodName?: string;
      /** AttachPodUID is the UID of the pod used to attach the volume to the node. */
      readonly attachPodUID?: string;
    };
    /** If the volume is memorydump volume, this will contain the memorydump info. */
    readonly memoryDumpVolume?: {
      /** ClaimName is the name of the pvc the memory was dumped to */
      readonly claimName?: string;
      /** EndTimestamp is the time when the memory dump completed */
      readonly endTimestamp?: string;
      /** StartTimestamp is the time when the memory dump started */
      readonly startTimestamp?: string;
      /** TargetFileName is the name of the memory dump output */
      readonly targetFileName?: string;
    };
    /** Message is a detailed message about the current hotplug volume phase */
    readonly message?: string;
    /** Name is the name of the volume */
    readonly name: string;
    /** PersistentVolumeClaimInfo is information about the PVC that handler requires during start flow */
    readonly persistentVolumeClaimInfo?: {
      /** AccessModes contains the desired access modes the volume should have. */
      readonly accessModes?: readonly string[];
      /** Capacity represents the capacity set on the corresponding PVC status */
      readonly capacity?: Readonly<Record<string, string | number>>;
      /** ClaimName is the name of the PVC */
      readonly claimName?: string;
      /** Percentage of filesystem's size to be reserved when resizing the PVC */
      readonly filesystemOverhead?: string;
      /** Preallocated indicates if the PVC's storage is preallocated or not */
      readonly preallocated?: boolean;
      /** Requests represents the resources requested by the corresponding PVC spec */
      readonly requests?: Readonly<Record<string, string | number>>;
      /** VolumeMode defines what type of volume is required by the claim. */
      readonly volumeMode?: string;
    };
    /** Phase is the phase */
    readonly phase?: string;
    /** Reason is a brief description of why we are in the current hotplug volume phase */
    readonly reason?: string;
    /** Represents the size of the volume */
    readonly size?: number;
    /** Target is the target name used when adding the volume to the VM, eg: vda */
    readonly target: string;
  }[];
}

/** If affinity is specifies, obey all the affinity rules */
export interface Affinity {
  /** Describes node affinity scheduling rules for the pod. */
  readonly nodeAffinity?: {
    /** The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by this field, but it may choose a node that violates one or more of the expressions. */
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      /** A node selector term, associated with the corresponding weight. */
      readonly preference: {
        /** A list of node selector requirements by node's labels. */
        readonly matchExpressions?: readonly {
          /** The label key that the selector applies to. */
          readonly key: string;
          /** Represents a key's relationship to a set of values. */
          readonly operator: string;
          /** An array of string values. */
          readonly values?: readonly string[];
        }[];
        /** A list of node selector requirements by node's fields. */
        readonly matchFields?: readonly {
          /** The label key that the selector applies to. */
          readonly key: string;
          /** Represents a key's relationship to a set of values. */
          readonly operator: string;
          /** An array of string values. */
          readonly values?: readonly string[];
        }[];
      };
      /** Weight associated with matching the corresponding nodeSelectorTerm, in the range 1-100. */
      readonly weight: number;
    }[];
    /** If the affinity requirements specified by this field are not met at scheduling time, the pod will not be scheduled onto the node. */
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      /** Required. */
      readonly nodeSelectorTerms: readonly {
        /** A list of node selector requirements by node's labels. */
        readonly matchExpressions?: readonly {
          /** The label key that the selector applies to. */
          readonly key: string;
          /** Represents a key's relationship to a set of values. */
          readonly operator: string;
          /** An array of string values. */
          readonly values?: readonly string[];
        }[];
        /** A list of node selector requirements by node's fields. */
        readonly matchFields?: readonly {
          /** The label key that the selector applies to. */
          readonly key: string;
          /** Represents a key's relationship to a set of values. */
          readonly operator: string;
          /** An array of string values. */
          readonly values?: readonly string[];
        }[];
      }[];
    };
  };
  /** Describes pod affinity scheduling rules (e.g. */
  readonly podAffinity?: {
    /** The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by this field, but it may choose a node that violates one or more of the expressions. */
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      /** Required. */
      readonly podAffinityTerm: {
        /** A label query over a set of resources, in this case pods. */
        readonly labelSelector?: {
          /** matchExpressions is a list of label selector requirements. */
          readonly matchExpressions?: readonly {
            /** key is the label key that the selector applies to. */
            readonly key: string;
            /** operator represents a key's relationship to a set of values. */
            readonly operator: string;
            /** values is an array of string values. */
            readonly values?: readonly string[];
          }[];
          /** matchLabels is a map of {key,value} pairs. */
          readonly matchLabels?: Readonly<Record<string, string>>;
        };
        /** MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
        readonly matchLabelKeys?: readonly string[];
        /** MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
        readonly mismatchLabelKeys?: readonly string[];
        /** A label query over the set of namespaces that the term applies to. */
        readonly namespaceSelector?: {
          /** matchExpressions is a list of label selector requirements. */
          readonly matchExpressions?: readonly {
            /** key is the label key that the selector applies to. */
            readonly key: string;
            /** operator represents a key's relationship to a set of values. */
            readonly operator: string;
            /** values is an array of string values. */
            readonly values?: readonly string[];
          }[];
          /** matchLabels is a map of {key,value} pairs. */
          readonly matchLabels?: Readonly<Record<string, string>>;
        };
        /** namespaces specifies a static list of namespace names that the term applies to. */
        readonly namespaces?: readonly string[];
        /** This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key topologyKey matches that of any node on which any of the selected pods is running. */
        readonly topologyKey: string;
      };
      /** weight associated with matching the corresponding podAffinityTerm, in the range 1-100. */
      readonly weight: number;
    }[];
    /** If the affinity requirements specified by this field are not met at scheduling time, the pod will not be scheduled onto the node. */
    readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly {
      /** A label query over a set of resources, in this case pods. */
      readonly labelSelector?: {
        /** matchExpressions is a list of label selector requirements. */
        readonly matchExpressions?: readonly {
          /** key is the label key that the selector applies to. */
          readonly key: string;
          /** operator represents a key's relationship to a set of values. */
          readonly operator: string;
          /** values is an array of string values. */
          readonly values?: readonly string[];
        }[];
        /** matchLabels is a map of {key,value} pairs. */
        readonly matchLabels?: Readonly<Record<string, string>>;
      };
      /** MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
      readonly matchLabelKeys?: readonly string[];
      /** MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
      readonly mismatchLabelKeys?: readonly string[];
      /** A label query over the set of namespaces that the term applies to. */
      readonly namespaceSelector?: {
        /** matchExpressions is a list of label selector requirements. */
        readonly matchExpressions?: readonly {
          /** key is the label key that the selector applies to. */
          readonly key: string;
          /** operator represents a key's relationship to a set of values. */
          readonly operator: string;
          /** values is an array of string values. */
          readonly values?: readonly string[];
        }[];
        /** matchLabels is a map of {key,value} pairs. */
        readonly matchLabels?: Readonly<Record<string, string>>;
      };
      /** namespaces specifies a static list of namespace names that the term applies to. */
      readonly namespaces?: readonly string[];
      /** This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key topologyKey matches that of any node on which any of the selected pods is running. */
      readonly topologyKey: string;
    }[];
  };
  /** Describes pod anti-affinity scheduling rules (e.g. */
  readonly podAntiAffinity?: {
    /** The scheduler will prefer to schedule pods to nodes that satisfy the anti-affinity expressions specified by this field, but it may choose a node that violates one or more of the expressions. */
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      /** Required. */
      readonly podAffinityTerm: {
        /** A label query over a set of resources, in this case pods. */
        readonly labelSelector?: {
          /** matchExpressions is a list of label selector requirements. */
          readonly matchExpressions?: readonly {
            /** key is the label key that the selector applies to. */
            readonly key: string;
            /** operator represents a key's relationship to a set of values. */
            readonly operator: string;
            /** values is an array of string values. */
            readonly values?: readonly string[];
          }[];
          /** matchLabels is a map of {key,value} pairs. */
          readonly matchLabels?: Readonly<Record<string, string>>;
        };
        /** MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
        readonly matchLabelKeys?: readonly string[];
        /** MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
        readonly mismatchLabelKeys?: readonly string[];
        /** A label query over the set of namespaces that the term applies to. */
        readonly namespaceSelector?: {
          /** matchExpressions is a list of label selector requirements. */
          readonly matchExpressions?: readonly {
            /** key is the label key that the selector applies to. */
            readonly key: string;
            /** operator represents a key's relationship to a set of values. */
            readonly operator: string;
            /** values is an array of string values. */
            readonly values?: readonly string[];
          }[];
          /** matchLabels is a map of {key,value} pairs. */
          readonly matchLabels?: Readonly<Record<string, string>>;
        };
        /** namespaces specifies a static list of namespace names that the term applies to. */
        readonly namespaces?: readonly string[];
        /** This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key topologyKey matches that of any node on which any of the selected pods is running. */
        readonly topologyKey: string;
      };
      /** weight associated with matching the corresponding podAffinityTerm, in the range 1-100. */
      readonly weight: number;
    }[];
    /** If the anti-affinity requirements specified by this field are not met at scheduling time, the pod will not be scheduled onto the node. */
    readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly {
      /** A label query over a set of resources, in this case pods. */
      readonly labelSelector?: {
        /** matchExpressions is a list of label selector requirements. */
        readonly matchExpressions?: readonly {
          /** key is the label key that the selector applies to. */
          readonly key: string;
          /** operator represents a key's relationship to a set of values. */
          readonly operator: string;
          /** values is an array of string values. */
          readonly values?: readonly string[];
        }[];
        /** matchLabels is a map of {key,value} pairs. */
        readonly matchLabels?: Readonly<Record<string, string>>;
      };
      /** MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
      readonly matchLabelKeys?: readonly string[];
      /** MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration. */
      readonly mismatchLabelKeys?: readonly string[];
      /** A label query over the set of namespaces that the term applies to. */
      readonly namespaceSelector?: {
        /** matchExpressions is a list of label selector requirements. */
        readonly matchExpressions?: readonly {
          /** key is the label key that the selector applies to. */
          readonly key: string;
          /** operator represents a key's relationship to a set of values. */
          readonly operator: string;
          /** values is an array of string values. */
          readonly values?: readonly string[];
        }[];
        /** matchLabels is a map of {key,value} pairs. */
        readonly matchLabels?: Readonly<Record<string, string>>;
      };
      /** namespaces specifies a static list of namespace names that the term applies to. */
      readonly namespaces?: readonly string[];
      /** This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key topologyKey matches that of any node on which any of the selected pods is running. */
      readonly topologyKey: string;
    }[];
  };
}

/** Specification of the desired behavior of the VirtualMachineInstance on the host. */
export interface DomainSpec {
  /** Chassis specifies the chassis info passed to the domain. */
  readonly chassis?: {
    readonly asset?: string;
    readonly manufacturer?: string;
    readonly serial?: string;
    readonly sku?: string;
    readonly version?: string;
  };
  /** Clock sets the clock and timers of the vmi. */
  readonly clock?: {
    /** Timer specifies whih timers are attached to the vmi. */
    readonly timer?: {
      /** HPET (High Precision Event Timer) - multiple timers with periodic interrupts. */
      readonly hpet?: {
        /** Enabled set to false makes sure that the machine type or a preset can't add the timer. */
        readonly present?: boolean;
        /** TickPolicy determines what happens when QEMU misses a deadline for injecting a tick to the guest. */
        readonly tickPolicy?: string;
      };
      /** Hyperv (Hypervclock) - lets guests read the host’s wall clock time (paravirtualized). */
      readonly hyperv?: {
        /** Enabled set to false makes sure that the machine type or a preset can't add the timer. */
        readonly present?: boolean;
      };
      /** KVM (KVM clock) - lets guests read the host’s wall clock time (paravirtualized). */
      readonly kvm?: {
        /** Enabled set to false makes sure that the machine type or a preset can't add the timer. */
        readonly present?: boolean;
      };
      /** PIT (Programmable Interval Timer) - a timer with periodic interrupts. */
      readonly pit?: {
        /** Enabled set to false makes sure that the machine type or a preset can't add the timer. */
        readonly present?: boolean;
        /** TickPolicy determines what happens when QEMU misses a deadline for injecting a tick to the guest. */
        readonly tickPolicy?: string;
      };
      /** RTC (Real Time Clock) - a continuously running timer with periodic interrupts. */
      readonly rtc?: {
        /** Enabled set to false makes sure that the machine type or a preset can't add the timer. */
        readonly present?: boolean;
        /** TickPolicy determines what happens when QEMU misses a deadline for injecting a tick to the guest. */
        readonly tickPolicy?: string;
        /** Track the guest or the wall clock. */
        readonly track?: string;
      };
    };
    /** Timezone sets the guest clock to the specified timezone. */
    readonly timezone?: string;
    /** UTC sets the guest clock to UTC on each boot. */
    readonly utc?: {
      /** OffsetSeconds specifies an offset in seconds, relative to UTC. */
      readonly offsetSeconds?: number;
    };
  };
  /** CPU allow specified the detailed CPU topology inside the vmi. */
  readonly cpu?: {
    /** Cores specifies the number of cores inside the vmi. */
    readonly cores?: number;
    /** DedicatedCPUPlacement requests the scheduler to place the VirtualMachineInstance on a node with enough dedicated pCPUs and pin the vCPUs to it. */
    readonly dedicatedCpuPlacement?: boolean;
    /** Features specifies the CPU features list inside the VMI. */
    readonly features?: readonly {
      /** Name of the CPU feature */
      readonly name: string;
      /** Policy is the CPU feature attribute which can have the following attributes: force - The virtual CPU will claim the feature is supported regardless of it being supported by host CPU. */
      readonly policy?: string;
    }[];
    /** IsolateEmulatorThread requests one more dedicated pCPU to be allocated for the VMI to place the emulator thread on it. */
    readonly isolateEmulatorThread?: boolean;
    /** MaxSockets specifies the maximum amount of sockets that can be hotplugged */
    readonly maxSockets?: number;
    /** Model specifies the CPU model inside the VMI. */
    readonly model?: string;
    /** NUMA allows specifying settings for the guest NUMA topology */
    readonly numa?: {
      /** GuestMappingPassthrough will create an efficient guest topology based on host CPUs exclusively assigned to a pod. */
      readonly guestMappingPassthrough?: Readonly<Record<string, unknown>>;
    };
    /** Realtime instructs the virt-launcher to tune the VMI for lower latency, optional for real time workloads */
    readonly realtime?: {
      /** Mask defines the vcpu mask expression that defines which vcpus are used for realtime. */
      readonly mask?: string;
    };
    /** Sockets specifies the number of sockets inside the vmi. */
    readonly sockets?: number;
    /** Threads specifies the number of threads inside the vmi. */
    readonly threads?: number;
  };
  /** Devices allows adding disks, network interfaces, and others */
  readonly devices: {
    /** Whether to attach the default graphics device or not. */
    readonly autoattachGraphicsDevice?: boolean;
    /** Whether to attach an Input Device. */
    readonly autoattachInputDevice?: boolean;
    /** Whether to attach the Memory balloon device with default period. */
    readonly autoattachMemBalloon?: boolean;
    /** Whether to attach a pod network interface. */
    readonly autoattachPodInterface?: boolean;
    /** Whether to attach the default virtio-serial console or not. */
    readonly autoattachSerialConsole?: boolean;
    /** Whether to attach the VSOCK CID to the VM or not. */
    readonly autoattachVSOCK?: boolean;
    /** Whether or not to enable virtio multi-queue for block devices. */
    readonly blockMultiQueue?: boolean;
    /** To configure and access client devices such as redirecting USB */
    readonly clientPassthrough?: Readonly<Record<string, unknown>>;
    /** DisableHotplug disabled the ability to hotplug disks. */
    readonly disableHotplug?: boolean;
    /** Disks describes disks, cdroms and luns which are connected to the vmi. */
    readonly disks?: readonly Disk[];
    /** DownwardMetrics creates a virtio serials for exposing the downward metrics to the vmi. */
    readonly downwardMetrics?: Readonly<Record<string, unknown>>;
    /** Filesystems describes filesystem which is connected to the vmi. */
    readonly filesystems?: readonly {
      /** Name is the device name */
      readonly name: string;
      /** Virtiofs is supported */
      readonly virtiofs: Readonly<Record<string, unknown>>;
    }[];
    /** Whether to attach a GPU device to the vmi. */
    readonly gpus?: readonly {
      /** ClaimName needs to be provided from the list vmi.spec.resourceClaims[].name where this device is allocated */
      readonly claimName?: string;
      /** DeviceName is the name of the device provisioned by device-plugins */
      readonly deviceName?: string;
      /** Name of the GPU device as exposed by a device plugin */
      readonly name: string;
      /** RequestName needs to be provided from resourceClaim.spec.devices.requests[].name where this device is requested */
      readonly requestName?: string;
      /** If specified, the virtual network interface address and its tag will be provided to the guest via config drive */
      readonly tag?: string;
      readonly virtualGPUOptions?: {
        readonly display?: {
          /** Enabled determines if a display addapter backed by a vGPU should be enabled or disabled on the guest. */
          readonly enabled?: boolean;
          /** Enables a boot framebuffer, until the guest OS loads a real GPU driver Defaults to true. */
          readonly ramFB?: {
            /** Enabled determines if the feature should be enabled or disabled on the guest. */
            readonly enabled?: boolean;
          };
        };
      };
    }[];
    /** Whether to attach a host device to the vmi. */
    readonly hostDevices?: readonly {
      /** ClaimName needs to be provided from the list vmi.spec.resourceClaims[].name where this device is allocated */
      readonly claimName?: string;
      /** DeviceName is the name of the device provisioned by device-plugins */
      readonly deviceName?: string;
      readonly name: string;
      /** RequestName needs to be provided from resourceClaim.spec.devices.requests[].name where this device is requested */
      readonly requestName?: string;
      /** If specified, the virtual network interface address and its tag will be provided to the guest via config drive */
      readonly tag?: string;
    }[];
    /** Inputs describe input devices */
    readonly inputs?: readonly {
      /** Bus indicates the bus of input device to emulate. */
      readonly bus?: string;
      /** Name is the device name */
      readonly name: string;
      /** Type indicated the type of input device. */
      readonly type: string;
    }[];
    /** Interfaces describe network interfaces which are added to the vmi. */
    readonly interfaces?: readonly Interface[];
    /** Whether to log the auto-attached default serial console or not. */
    readonly logSerialConsole?: boolean;
    /** If specified, virtual network interfaces configured with a virtio bus will also enable the vhost multiqueue feature for network devices. */
    readonly networkInterfaceMultiqueue?: boolean;
    /** PanicDevices provides additional crash information when a guest crashes. */
    readonly panicDevices?: readonly {
      /** Model specifies what type of panic device is provided. */
      readonly model?: string;
    }[];
    /** Whether to have random number generator from host */
    readonly rng?: Readonly<Record<string, unknown>>;
    /** Whether to emulate a sound device. */
    readonly sound?: {
      /** We only support ich9 or ac97. */
      readonly model?: string;
      /** User's defined name for this sound device */
      readonly name: string;
    };
    /** Whether to emulate a TPM device. */
    readonly tpm?: {
      /** Enabled allows a user to explicitly disable the vTPM even when one is enabled by a preference referenced by the VirtualMachine Defaults to True */
      readonly enabled?: boolean;
      /** Persistent indicates the state of the TPM device should be kept accross reboots Defaults to false */
      readonly persistent?: boolean;
    };
    /** Fall back to legacy virtio 0.9 support if virtio bus is selected on devices. */
    readonly useVirtioTransitional?: boolean;
    /** Video describes the video device configuration for the vmi. */
    readonly video?: {
      /** Type specifies the video device type (e.g., virtio, vga, bochs, ramfb). */
      readonly type?: string;
    };
    /** Watchdog describes a watchdog device which can be added to the vmi. */
    readonly watchdog?: {
      /** diag288 watchdog device (specific to s390x architecture). */
      readonly diag288?: {
        /** The action to take. */
        readonly action?: string;
      };
      /** i6300esb watchdog device. */
      readonly i6300esb?: {
        /** The action to take. */
        readonly action?: string;
      };
      /** Name of the watchdog. */
      readonly name: string;
    };
  };
  /** Features like acpi, apic, hyperv, smm. */
  readonly features?: {
    /** ACPI enables/disables ACPI inside the guest. */
    readonly acpi?: {
      /** Enabled determines if the feature should be enabled or disabled on the guest. */
      readonly enabled?: boolean;
    };
    /** Defaults to the machine type setting. */
    readonly apic?: {
      /** Enabled determines if the feature should be enabled or disabled on the guest. */
      readonly enabled?: boolean;
      /** EndOfInterrupt enables the end of interrupt notification in the guest. */
      readonly endOfInterrupt?: boolean;
    };
    /** Defaults to the machine type setting. */
    readonly hyperv?: {
      /** EVMCS Speeds up L2 vmexits, but disables other virtualization features. */
      readonly evmcs?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** Frequencies improves the TSC clock source handling for Hyper-V on KVM. */
      readonly frequencies?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** IPI improves performances in overcommited environments. */
      readonly ipi?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** Reenlightenment enables the notifications on TSC frequency changes. */
      readonly reenlightenment?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** Relaxed instructs the guest OS to disable watchdog timeouts. */
      readonly relaxed?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** Reset enables Hyperv reboot/reset for the vmi. */
      readonly reset?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** Runtime improves the time accounting to improve scheduling in the guest. */
      readonly runtime?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** Spinlocks allows to configure the spinlock retry attempts. */
      readonly spinlocks?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
        /** Retries indicates the number of retries. */
        readonly spinlocks?: number;
      };
      /** SyNIC enables the Synthetic Interrupt Controller. */
      readonly synic?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** SyNICTimer enables Synthetic Interrupt Controller Timers, reducing CPU load. */
      readonly synictimer?: {
        /** Represents if a feature is enabled or disabled. */
        readonly direct?: {
          /** Enabled determines if the feature should be enabled or disabled on the guest. */
          readonly enabled?: boolean;
        };
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** TLBFlush improves performances in overcommited environments. */
      readonly tlbflush?: {
        /** Direct allows sending the TLB flush command directly to the hypervisor. */
        readonly direct?: {
          /** Enabled determines if the feature should be enabled or disabled on the guest. */
          readonly enabled?: boolean;
        };
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
        /** Extended allows the guest to execute partial TLB flushes. */
        readonly extended?: {
          /** Enabled determines if the feature should be enabled or disabled on the guest. */
          readonly enabled?: boolean;
        };
      };
      /** VAPIC improves the paravirtualized handling of interrupts. */
      readonly vapic?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
      /** VendorID allows setting the hypervisor vendor id. */
      readonly vendorid?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
        /** VendorID sets the hypervisor vendor id, visible to the vmi. */
        readonly vendorid?: string;
      };
      /** VPIndex enables the Virtual Processor Index to help windows identifying virtual processors. */
      readonly vpindex?: {
        /** Enabled determines if the feature should be enabled or disabled on the guest. */
        readonly enabled?: boolean;
      };
    };
    /** This enables all supported hyperv flags automatically. */
    readonly hypervPassthrough?: {
      readonly enabled?: boolean;
    };
    /** Configure how KVM presence is exposed to the guest. */
    readonly kvm?: {
      /** Hide the KVM hypervisor from standard MSR based discovery. */
      readonly hidden?: boolean;
    };
    /** Notify the guest that the host supports paravirtual spinlocks. */
    readonly pvspinlock?: {
      /** Enabled determines if the feature should be enabled or disabled on the guest. */
      readonly enabled?: boolean;
    };
    /** SMM enables/disables System Management Mode. */
    readonly smm?: {
      /** Enabled determines if the feature should be enabled or disabled on the guest. */
      readonly enabled?: boolean;
    };
  };
  /** Firmware. */
  readonly firmware?: {
    /** Information that can be set in the ACPI table */
    readonly acpi?: {
      /** Similar to SlicNameRef, another ACPI entry that is used in more recent Windows versions. */
      readonly msdmNameRef?: string;
      /** SlicNameRef should match the volume name of a secret object. */
      readonly slicNameRef?: string;
    };
    /** Settings to control the bootloader that is used. */
    readonly bootloader?: {
      /** If set (default), BIOS will be used. */
      readonly bios?: {
        /** If set, the BIOS output will be transmitted over serial */
        readonly useSerial?: boolean;
      };
      /** If set, EFI will be used instead of BIOS. */
      readonly efi?: {
        /** If set to true, Persistent will persist the EFI NVRAM across reboots. */
        readonly persistent?: boolean;
        /** If set, SecureBoot will be enabled and the OVMF roms will be swapped for SecureBoot-enabled ones. */
        readonly secureBoot?: boolean;
      };
    };
    /** Settings to set the kernel for booting. */
    readonly kernelBoot?: {
      /** Container defines the container that containes kernel artifacts */
      readonly container?: {
        /** Image that contains initrd / kernel files. */
        readonly image: string;
        /** Image pull policy. */
        readonly imagePullPolicy?: string;
        /** ImagePullSecret is the name of the Docker registry secret required to pull the image. */
        readonly imagePullSecret?: string;
        /** the fully-qualified path to the ramdisk image in the host OS */
        readonly initrdPath?: string;
        /** The fully-qualified path to the kernel image in the host OS */
        readonly kernelPath?: string;
      };
      /** Arguments to be passed to the kernel at boot time */
      readonly kernelArgs?: string;
    };
    /** The system-serial-number in SMBIOS */
    readonly serial?: string;
    /** UUID reported by the vmi bios. */
    readonly uuid?: string;
  };
  /** IOThreads specifies the IOThreads options. */
  readonly ioThreads?: {
    /** SupplementalPoolThreadCount specifies how many iothreads are allocated for the supplementalPool policy. */
    readonly supplementalPoolThreadCount?: number;
  };
  /** Controls whether or not disks will share IOThreads. */
  readonly ioThreadsPolicy?: string;
  /** Launch Security setting of the vmi. */
  readonly launchSecurity?: {
    /** AMD Secure Encrypted Virtualization (SEV). */
    readonly sev?: {
      /** If specified, run the attestation process for a vmi. */
      readonly attestation?: Readonly<Record<string, unknown>>;
      /** Base64 encoded guest owner's Diffie-Hellman key. */
      readonly dhCert?: string;
      /** Guest policy flags as defined in AMD SEV API specification. */
      readonly policy?: {
        /** SEV-ES is required. */
        readonly encryptedState?: boolean;
      };
      /** Base64 encoded session blob. */
      readonly session?: string;
    };
    /** AMD SEV-SNP flags defined by the SEV-SNP specifications. */
    readonly snp?: Readonly<Record<string, unknown>>;
    /** Intel Trust Domain Extensions (TDX). */
    readonly tdx?: Readonly<Record<string, unknown>>;
  };
  /** Machine type. */
  readonly machine?: {
    /** QEMU machine type is the actual chipset of the VirtualMachineInstance. */
    readonly type?: string;
  };
  /** Memory allow specifying the VMI memory features. */
  readonly memory?: {
    /** Guest allows to specifying the amount of memory which is visible inside the Guest OS. */
    readonly guest?: string | number;
    /** Hugepages allow to use hugepages for the VirtualMachineInstance instead of regular memory. */
    readonly hugepages?: {
      /** PageSize specifies the hugepage size, for x86_64 architecture valid values are 1Gi and 2Mi. */
      readonly pageSize?: string;
    };
    /** MaxGuest allows to specify the maximum amount of memory which is visible inside the Guest OS. */
    readonly maxGuest?: string | number;
    /** ReservedOverhead configures the memory overhead applied to a VM and its characteristics. */
    readonly reservedOverhead?: {
      /** AddedOverhead determines the memory overhead that will be reserved for the VM. */
      readonly addedOverhead?: string | number;
      /** RequiresLock determines whether the VM's and its overhead memory need to be locked or not. */
      readonly memLock?: 'NotRequired' | 'Required';
    };
  };
  /** RebootPolicy specifies how the guest should behave on reboot. */
  readonly rebootPolicy?: 'Reboot' | 'Terminate';
  /** Resources describes the Compute Resources required by this vmi. */
  readonly resources?: {
    /** Limits describes the maximum amount of compute resources allowed. */
    readonly limits?: Readonly<Record<string, string | number>>;
    /** Don't ask the scheduler to take the guest-management overhead into account. */
    readonly overcommitGuestOverhead?: boolean;
    /** Requests is a description of the initial vmi resources. */
    readonly requests?: Readonly<Record<string, string | number>>;
  };
}

export interface Disk {
  /** If specified, the virtual disk will be presented with the given block sizes. */
  readonly blockSize?: {
    /** CustomBlockSize represents the desired logical and physical block size for a VM disk. */
    readonly custom?: {
      readonly discardGranularity?: number;
      readonly logical?: number;
      readonly physical?: number;
    };
    /** Represents if a feature is enabled or disabled. */
    readonly matchVolume?: {
      /** Enabled determines if the feature should be enabled or disabled on the guest. */
      readonly enabled?: boolean;
    };
  };
  /** BootOrder is an integer value > 0, used to determine ordering of boot devices. */
  readonly bootOrder?: number;
  /** Cache specifies which kvm disk cache mode should be used. */
  readonly cache?: string;
  /** Attach a volume as a cdrom to the vmi. */
  readonly cdrom?: {
    /** Bus indicates the type of disk device to emulate. */
    readonly bus?: string;
    /** ReadOnly. */
    readonly readonly?: boolean;
    /** Tray indicates if the tray of the device is open or closed. */
    readonly tray?: string;
  };
  /** ChangedBlockTracking indicates this disk should have CBT option Defaults to false. */
  readonly changedBlockTracking?: boolean;
  /** dedicatedIOThread indicates this disk should have an exclusive IO Thread. */
  readonly dedicatedIOThread?: boolean;
  /** Attach a volume as a disk to the vmi. */
  readonly disk?: {
    /** Bus indicates the type of disk device to emulate. */
    readonly bus?: string;
    /** If specified, the virtual disk will be placed on the guests pci address with the specified PCI address. */
    readonly pciAddress?: string;
    /** ReadOnly. */
    readonly readonly?: boolean;
  };
  /** If specified, it can change the default error policy (stop) for the disk */
  readonly errorPolicy?: string;
  /** IO specifies which QEMU disk IO mode should be used. */
  readonly io?: string;
  /** Attach a volume as a LUN to the vmi. */
  readonly lun?: {
    /** Bus indicates the type of disk device to emulate. */
    readonly bus?: string;
    /** ReadOnly. */
    readonly readonly?: boolean;
    /** Reservation indicates if the disk needs to support the persistent reservation for the SCSI disk */
    readonly reservation?: boolean;
  };
  /** Name is the device name */
  readonly name: string;
  /** Serial provides the ability to specify a serial number for the disk device. */
  readonly serial?: string;
  /** If specified the disk is made sharable and multiple write from different VMs are permitted */
  readonly shareable?: boolean;
  /** If specified, disk address and its tag will be provided to the guest via config drive metadata */
  readonly tag?: string;
}

export interface Interface {
  /** If specified, the ACPI index is used to provide network interface device naming, that is stable across changes in PCI addresses assigned to the device. */
  readonly acpiIndex?: number;
  /** Binding specifies the binding plugin that will be used to connect the interface to the guest. */
  readonly binding?: {
    /** Name references to the binding name as denined in the kubevirt CR. */
    readonly name: string;
  };
  /** BootOrder is an integer value > 0, used to determine ordering of boot devices. */
  readonly bootOrder?: number;
  /** InterfaceBridge connects to a given network via a linux bridge. */
  readonly bridge?: Readonly<Record<string, unknown>>;
  /** If specified the network interface will pass additional DHCP options to the VMI */
  readonly dhcpOptions?: {
    /** If specified will pass option 67 to interface's DHCP server */
    readonly bootFileName?: string;
    /** If specified will pass the configured NTP server to the VM via DHCP option 042. */
    readonly ntpServers?: readonly string[];
    /** If specified will pass extra DHCP options for private use, range: 224-254 */
    readonly privateOptions?: readonly {
      /** Option is an Integer value from 224-254 Required. */
      readonly option: number;
      /** Value is a String value for the Option provided Required. */
      readonly value: string;
    }[];
    /** If specified will pass option 66 to interface's DHCP server */
    readonly tftpServerName?: string;
  };
  /** Interface MAC address. */
  readonly macAddress?: string;
  /** DeprecatedMacvtap is an alias to the deprecated Macvtap interface, please refer to Kubevirt user guide for alternatives. */
  readonly macvtap?: Readonly<Record<string, unknown>>;
  /** InterfaceMasquerade connects to a given network using netfilter rules to nat the traffic. */
  readonly masquerade?: Readonly<Record<string, unknown>>;
  /** Interface model. */
  readonly model?: string;
  /** Logical name of the interface as well as a reference to the associated networks. */
  readonly name: string;
  /** DeprecatedPasst is an alias to the deprecated Passt interface, please refer to Kubevirt user guide for alternatives. */
  readonly passt?: Readonly<Record<string, unknown>>;
  /** InterfacePasstBinding connects to a given network using passt usermode networking. */
  readonly passtBinding?: Readonly<Record<string, unknown>>;
  /** If specified, the virtual network interface will be placed on the guests pci address with the specified PCI address. */
  readonly pciAddress?: string;
  /** List of ports to be forwarded to the virtual machine. */
  readonly ports?: readonly {
    /** If specified, this must be an IANA_SVC_NAME and unique within the pod. */
    readonly name?: string;
    /** Number of port to expose for the virtual machine. */
    readonly port: number;
    /** Protocol for port. */
    readonly protocol?: string;
  }[];
  /** DeprecatedSlirp is an alias to the deprecated Slirp interface Deprecated: Removed in v1.3 */
  readonly slirp?: Readonly<Record<string, unknown>>;
  /** InterfaceSRIOV connects to a given network by passing-through an SR-IOV PCI device via vfio. */
  readonly sriov?: Readonly<Record<string, unknown>>;
  /** State represents the requested operational state of the interface. */
  readonly state?: string;
  /** If specified, the virtual network interface address and its tag will be provided to the guest via config drive */
  readonly tag?: string;
}

/** Network represents a network type and a resource that should be connected to the vm. */
export interface Network {
  /** Represents the multus cni network. */
  readonly multus?: {
    /** Select the default network and add it to the multus-cni.io/default-network annotation. */
    readonly default?: boolean;
    /** References to a NetworkAttachmentDefinition CRD object. */
    readonly networkName: string;
  };
  /** Network name. */
  readonly name: string;
  /** Represents the stock pod network interface. */
  readonly pod?: {
    /** IPv6 CIDR for the vm network. */
    readonly vmIPv6NetworkCIDR?: string;
    /** CIDR for vm network. */
    readonly vmNetworkCIDR?: string;
  };
}

/** Volume represents a named volume in a vmi. */
export interface Volume {
  /** CloudInitConfigDrive represents a cloud-init Config Drive user-data source. */
  readonly cloudInitConfigDrive?: {
    /** NetworkData contains config drive inline cloud-init networkdata. */
    readonly networkData?: string;
    /** NetworkDataBase64 contains config drive cloud-init networkdata as a base64 encoded string. */
    readonly networkDataBase64?: string;
    /** NetworkDataSecretRef references a k8s secret that contains config drive networkdata. */
    readonly networkDataSecretRef?: {
      /** Name of the referent. */
      readonly name?: string;
    };
    /** UserDataSecretRef references a k8s secret that contains config drive userdata. */
    readonly secretRef?: {
      /** Name of the referent. */
      readonly name?: string;
    };
    /** UserData contains config drive inline cloud-init userdata. */
    readonly userData?: string;
    /** UserDataBase64 contains config drive cloud-init userdata as a base64 encoded string. */
    readonly userDataBase64?: string;
  };
  /** CloudInitNoCloud represents a cloud-init NoCloud user-data source. */
  readonly cloudInitNoCloud?: {
    /** NetworkData contains NoCloud inline cloud-init networkdata. */
    readonly networkData?: string;
    /** NetworkDataBase64 contains NoCloud cloud-init networkdata as a base64 encoded string. */
    readonly networkDataBase64?: string;
    /** NetworkDataSecretRef references a k8s secret that contains NoCloud networkdata. */
    readonly networkDataSecretRef?: {
      /** Name of the referent. */
      readonly name?: string;
    };
    /** UserDataSecretRef references a k8s secret that contains NoCloud userdata. */
    readonly secretRef?: {
      /** Name of the referent. */
      readonly name?: string;
    };
    /** UserData contains NoCloud inline cloud-init userdata. */
    readonly userData?: string;
    /** UserDataBase64 contains NoCloud cloud-init userdata as a base64 encoded string. */
    readonly userDataBase64?: string;
  };
  /** ConfigMapSource represents a reference to a ConfigMap in the same namespace. */
  readonly configMap?: {
    /** Name of the referent. */
    readonly name?: string;
    /** Specify whether the ConfigMap or it's keys must be defined */
    readonly optional?: boolean;
    /** The volume label of the resulting disk inside the VMI. */
    readonly volumeLabel?: string;
  };
  /** ContainerDisk references a docker image, embedding a qcow or raw disk. */
  readonly containerDisk?: {
    /** Image is the name of the image with the embedded disk. */
    readonly image: string;
    /** Image pull policy. */
    readonly imagePullPolicy?: string;
    /** ImagePullSecret is the name of the Docker registry secret required to pull the image. */
    readonly imagePullSecret?: string;
    /** Path defines the path to disk file in the container */
    readonly path?: string;
  };
  /** ContainerPath exposes a path from the virt-launcher container to the VM via virtiofs. */
  readonly containerPath?: {
    /** Path is the absolute path within the virt-launcher container to expose to the VM. */
    readonly path: string;
    /** ReadOnly controls whether the volume is exposed as read-only to the VM. */
    readonly readOnly?: boolean;
  };
  /** DataVolume represents the dynamic creation a PVC for this volume as well as the process of populating that PVC with a disk image. */
  readonly dataVolume?: {
    /** Hotpluggable indicates whether the volume can be hotplugged and hotunplugged. */
    readonly hotpluggable?: boolean;
    /** Name of both the DataVolume and the PVC in the same namespace. */
    readonly name: string;
  };
  /** DownwardAPI represents downward API about the pod that should populate this volume */
  readonly downwardAPI?: {
    /** Fields is a list of downward API volume file */
    readonly fields?: readonly {
      /** Required: Selects a field of the pod: only annotations, labels, name, namespace and uid are supported. */
      readonly fieldRef?: {
        /** Version of the schema the FieldPath is written in terms of, defaults to "v1". */
        readonly apiVersion?: string;
        /** Path of the field to select in the specified API version. */
        readonly fieldPath: string;
      };
      /** Optional: mode bits used to set permissions on this file, must be an octal value between 0000 and 0777 or a decimal value between 0 and 511. */
      readonly mode?: number;
      /** Required: Path is the relative path name of the file to be created. */
      readonly path: string;
      /** Selects a resource of the container: only resources limits and requests (limits.cpu, limits.memory, requests.cpu and requests.memory) are currently supported. */
      readonly resourceFieldRef?: {
        /** Container name: required for volumes, optional for env vars */
        readonly containerName?: string;
        /** Specifies the output format of the exposed resources, defaults to "1" */
        readonly divisor?: string | number;
        /** Required: resource to select */
        readonly resource: string;
      };
    }[];
    /** The volume label of the resulting disk inside the VMI. */
    readonly volumeLabel?: string;
  };
  /** DownwardMetrics adds a very small disk to VMIs which contains a limited view of host and guest metrics. */
  readonly downwardMetrics?: Readonly<Record<string, unknown>>;
  /** EmptyDisk represents a temporary disk which shares the vmis lifecycle. */
  readonly emptyDisk?: {
    /** Capacity of the sparse disk. */
    readonly capacity: string | number;
  };
  /** Ephemeral is a special volume source that "wraps" specified source and provides copy-on-write image on top of it. */
  readonly ephemeral?: {
    /** PersistentVolumeClaimVolumeSource represents a reference to a PersistentVolumeClaim in the same namespace. */
    readonly persistentVolumeClaim?: {
      /** claimName is the name of a PersistentVolumeClaim in the same namespace as the pod using this volume. */
      readonly claimName: string;
      /** readOnly Will force the ReadOnly setting in VolumeMounts. */
      readonly readOnly?: boolean;
    };
  };
  /** HostDisk represents a disk created on the cluster level */
  readonly hostDisk?: {
    /** Capacity of the sparse disk */
    readonly capacity?: string | number;
    /** The path to HostDisk image located on the cluster */
    readonly path: string;
    /** Shared indicate whether the path is shared between nodes */
    readonly shared?: boolean;
    /** Contains information if disk.img exists or should be created allowed options are 'Disk' and 'DiskOrCreate' */
    readonly type: string;
  };
  /** MemoryDump is attached to the virt launcher and is populated with a memory dump of the vmi */
  readonly memoryDump?: {
    /** claimName is the name of a PersistentVolumeClaim in the same namespace as the pod using this volume. */
    readonly claimName: string;
    /** Hotpluggable indicates whether the volume can be hotplugged and hotunplugged. */
    readonly hotpluggable?: boolean;
    /** readOnly Will force the ReadOnly setting in VolumeMounts. */
    readonly readOnly?: boolean;
  };
  /** Volume's name. */
  readonly name: string;
  /** PersistentVolumeClaimVolumeSource represents a reference to a PersistentVolumeClaim in the same namespace. */
  readonly persistentVolumeClaim?: {
    /** claimName is the name of a PersistentVolumeClaim in the same namespace as the pod using this volume. */
    readonly claimName: string;
    /** Hotpluggable indicates whether the volume can be hotplugged and hotunplugged. */
    readonly hotpluggable?: boolean;
    /** readOnly Will force the ReadOnly setting in VolumeMounts. */
    readonly readOnly?: boolean;
  };
  /** SecretVolumeSource represents a reference to a secret data in the same namespace. */
  readonly secret?: {
    /** Specify whether the Secret or it's keys must be defined */
    readonly optional?: boolean;
    /** Name of the secret in the pod's namespace to use. */
    readonly secretName?: string;
    /** The volume label of the resulting disk inside the VMI. */
    readonly volumeLabel?: string;
  };
  /** ServiceAccountVolumeSource represents a reference to a service account. */
  readonly serviceAccount?: {
    /** Name of the service account in the pod's namespace to use. */
    readonly serviceAccountName?: string;
  };
  /** Represents a Sysprep volume source. */
  readonly sysprep?: {
    /** ConfigMap references a ConfigMap that contains Sysprep answer file named autounattend.xml that should be attached as disk of CDROM type. */
    readonly configMap?: {
      /** Name of the referent. */
      readonly name?: string;
    };
    /** Secret references a k8s Secret that contains Sysprep answer file named autounattend.xml that should be attached as disk of CDROM type. */
    readonly secret?: {
      /** Name of the referent. */
      readonly name?: string;
    };
  };
}

/** VirtualMachine handles the VirtualMachines that are not running or are in a stopped state The VirtualMachine contains the template to create the VirtualMachineInstance. */
export interface VirtualMachine extends KubeObject {
  /** Spec contains the specification of VirtualMachineInstance created */
  readonly spec: VirtualMachineSpec;
  /** Status holds the current state of the controller and brief information about its associated VirtualMachineInstance */
  readonly status?: VirtualMachineStatus;
}

/** Spec contains the specification of VirtualMachineInstance created */
export interface VirtualMachineSpec {
  /** dataVolumeTemplates is a list of dataVolumes that the VirtualMachineInstance template can reference. */
  readonly dataVolumeTemplates?: readonly ({
    /** APIVersion defines the versioned schema of this representation of an object. */
    readonly apiVersion?: string;
    /** Kind is a string value representing the REST resource this object represents. */
    readonly kind?: string;
    readonly metadata?: ObjectMeta | null;
    /** DataVolumeSpec contains the DataVolume specification. */
    readonly spec: {
      /** Checkpoints is a list of DataVolumeCheckpoints, representing stages in a multistage import. */
      readonly checkpoints?: readonly {
        /** Current is the identifier of the snapshot created for this checkpoint. */
        readonly current: string;
        /** Previous is the identifier of the snapshot from the previous checkpoint. */
        readonly previous: string;
      }[];
      /** DataVolumeContentType options: "kubevirt", "archive" */
      readonly contentType?: 'kubevirt' | 'archive';
      /** FinalCheckpoint indicates whether the current DataVolumeCheckpoint is the final checkpoint. */
      readonly finalCheckpoint?: boolean;
      /** Preallocation controls whether storage for DataVolumes should be allocated in advance. */
      readonly preallocation?: boolean;
      /** PriorityClassName for Importer, Cloner and Uploader pod */
      readonly priorityClassName?: string;
      /** PVC is the PVC specification */
      readonly pvc?: {
        /** accessModes contains the desired access modes the volume should have. */
        readonly accessModes?: readonly string[];
        /** dataSource field can be used to specify either: * An existing VolumeSnapshot object (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) If the provisioner or an external controller can support the specified data source, it will create a new volume based on the contents of the specified data source. */
        readonly dataSource?: {
          /** APIGroup is the group for the resource being referenced. */
          readonly apiGroup?: string;
          /** Kind is the type of resource being referenced */
          readonly kind: string;
          /** Name is the name of resource being referenced */
          readonly name: string;
        };
        /** dataSourceRef specifies the object from which to populate the volume with data, if a non-empty volume is desired. */
        readonly dataSourceRef?: {
          /** APIGroup is the group for the resource being referenced. */
          readonly apiGroup?: string;
          /** Kind is the type of resource being referenced */
          readonly kind: string;
          /** Name is the name of resource being referenced */
          readonly name: string;
          /** Namespace is the namespace of resource being referenced Note that when a namespace is specified, a gateway.networking.k8s.io/ReferenceGrant object is required in the referent namespace to allow that namespace's owner to accept the reference. */
          readonly namespace?: string;
        };
        /** resources represents the minimum resources the volume should have. */
        readonly resources?: {
          /** Limits describes the maximum amount of compute resources allowed. */
          readonly limits?: Readonly<Record<string, string | number>>;
          /** Requests describes the minimum amount of compute resources required. */
          readonly requests?: Readonly<Record<string, string | number>>;
        };
        /** selector is a label query over volumes to consider for binding. */
        readonly selector?: {
          /** matchExpressions is a list of label selector requirements. */
          readonly matchExpressions?: readonly {
            /** key is the label key that the selector applies to. */
            readonly key: string;
            /** operator represents a key's relationship to a set of values. */
            readonly operator: string;
            /** values is an array of string values. */
            readonly values?: readonly string[];
          }[];
          /** matchLabels is a map of {key,value} pairs. */
          readonly matchLabels?: Readonly<Record<string, string>>;
        };
        /** storageClassName is the name of the StorageClass required by the claim. */
        readonly storageClassName?: string;
        /** volumeAttributesClassName may be used to set the VolumeAttributesClass used by this claim. */
        readonly volumeAttributesClassName?: string;
        /** volumeMode defines what type of volume is required by the claim. */
        readonly volumeMode?: string;
        /** volumeName is the binding reference to the PersistentVolume backing this claim. */
        readonly volumeName?: string;
      };
      /** Source is the src of the data for the requested DataVolume */
      readonly source?: {
        /** DataVolumeBlankImage provides the parameters to create a new raw blank image for the PVC */
        readonly blank?: Readonly<Record<string, unknown>>;
        /** DataVolumeSourceGCS provides the parameters to create a Data Volume from an GCS source */
        readonly gcs?: {
          /** SecretRef provides the secret reference needed to access the GCS source */
          readonly secretRef?: string;
          /** URL is the url of the GCS source */
          readonly url: string;
        };
        /** DataVolumeSourceHTTP can be either an http or https endpoint, with an optional basic auth user name and password, and an optional configmap containing additional CAs */
        readonly http?: {
          /** CertConfigMap is a configmap reference, containing a Certificate Authority(CA) public key, and a base64 encoded pem certificate */
          readonly certConfigMap?: string;
          /** ExtraHeaders is a list of strings containing extra headers to include with HTTP transfer requests */
          readonly extraHeaders?: readonly string[];
          /** SecretExtraHeaders is a list of Secret references, each containing an extra HTTP header that may include sensitive information */
          readonly secretExtraHeaders?: readonly string[];
          /** SecretRef A Secret reference, the secret should contain accessKeyId (user name) base64 encoded, and secretKey (password) also base64 encoded */
          readonly secretRef?: string;
          /** URL is the URL of the http(s) endpoint */
          readonly url: string;
        };
        /** DataVolumeSourceImageIO provides the parameters to create a Data Volume from an imageio source */
        readonly imageio?: {
          /** CertConfigMap provides a reference to the CA cert */
          readonly certConfigMap?: string;
          /** DiskID provides id of a disk to be imported */
          readonly diskId: string;
          /** InsecureSkipVerify is a flag to skip certificate verification */
          readonly insecureSkipVerify?: boolean;
          /** SecretRef provides the secret reference needed to access the ovirt-engine */
          readonly secretRef?: string;
          /** URL is the URL of the ovirt-engine */
          readonly url: string;
        };
        /** DataVolumeSourcePVC provides the parameters to create a Data Volume from an existing PVC */
        readonly pvc?: {
          /** The name of the source PVC */
          readonly name: string;
          /** The namespace of the source PVC */
          readonly namespace: string;
        };
        /** DataVolumeSourceRegistry provides the parameters to create a Data Volume from an registry source */
        readonly registry?: {
          /** CertConfigMap provides a reference to the Registry certs */
          readonly certConfigMap?: string;
          /** ImageStream is the name of image stream for import */
          readonly imageStream?: string;
          /** Platform describes the minimum runtime requirements of the image */
          readonly platform?: {
            /** Architecture specifies the image target CPU architecture */
            readonly architecture?: string;
          };
          /** PullMethod can be either "pod" (default import), or "node" (node docker cache based import) */
          readonly pullMethod?: string;
          /** SecretRef provides the secret reference needed to access the Registry source */
          readonly secretRef?: string;
          /** URL is the url of the registry source (starting with the scheme: docker, oci-archive) */
          readonly url?: string;
        };
        /** DataVolumeSourceS3 provides the parameters to create a Data Volume from an S3 source */
        readonly s3?: {
          /** CertConfigMap is a configmap reference, containing a Certificate Authority(CA) public key, and a base64 encoded pem certificate */
          readonly certConfigMap?: string;
          /** SecretRef provides the secret reference needed to access the S3 source */
          readonly secretRef?: string;
          /** URL is the url of the S3 source */
          readonly url: string;
        };
        /** DataVolumeSourceSnapshot provides the parameters to create a Data Volume from an existing VolumeSnapshot */
        readonly snapshot?: {
          /** The name of the source VolumeSnapshot */
          readonly name: string;
          /** The namespace of the source VolumeSnapshot */
          readonly namespace: string;
        };
        /** DataVolumeSourceUpload provides the parameters to create a Data Volume by uploading the source */
        readonly upload?: Readonly<Record<string, unknown>>;
        /** DataVolumeSourceVDDK provides the parameters to create a Data Volume from a Vmware source */
        readonly vddk?: {
          /** BackingFile is the path to the virtual hard disk to migrate from vCenter/ESXi */
          readonly backingFile?: string;
          /** ExtraArgs is a reference to a ConfigMap containing extra arguments to pass directly to the VDDK library */
          readonly extraArgs?: string;
          /** InitImageURL is an optional URL to an image containing an extracted VDDK library, overrides v2v-vmware config map */
          readonly initImageURL?: string;
          /** SecretRef provides a reference to a secret containing the username and password needed to access the vCenter or ESXi host */
          readonly secretRef?: string;
          /** Thumbprint is the certificate thumbprint of the vCenter or ESXi host */
          readonly thumbprint?: string;
          /** URL is the URL of the vCenter or ESXi host with the VM to migrate */
          readonly url?: string;
          /** UUID is the UUID of the virtual machine that the backing file is attached to in vCenter/ESXi */
          readonly uuid?: string;
        };
      };
      /** SourceRef is an indirect reference to the source of data for the requested DataVolume */
      readonly sourceRef?: {
        /** The kind of the source reference, currently only "DataSource" is supported */
        readonly kind: string;
        /** The name of the source reference */
        readonly name: string;
        /** The namespace of the source reference, defaults to the DataVolume namespace */
        readonly namespace?: string;
      };
      /** Storage is the requested storage specification */
      readonly storage?: {
        /** AccessModes contains the desired access modes the volume should have. */
        readonly accessModes?: readonly string[];
        /** This field can be used to specify either: * An existing VolumeSnapshot object (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) * An existing custom resource that implements data population (Alpha) In order to use custom resource types that implement data population, the AnyVolumeDataSource feature gate must be enabled. */
        readonly dataSource?: {
          /** APIGroup is the group for the resource being referenced. */
          readonly apiGroup?: string;
          /** Kind is the type of resource being referenced */
          readonly kind: string;
          /** Name is the name of resource being referenced */
          readonly name: string;
        };
        /** Specifies the object from which to populate the volume with data, if a non-empty volume is desired. */
        readonly dataSourceRef?: {
          /** APIGroup is the group for the resource being referenced. */
          readonly apiGroup?: string;
          /** Kind is the type of resource being referenced */
          readonly kind: string;
          /** Name is the name of resource being referenced */
          readonly name: string;
          /** Namespace is the namespace of resource being referenced Note that when a namespace is specified, a gateway.networking.k8s.io/ReferenceGrant object is required in the referent namespace to allow that namespace's owner to accept the reference. */
          readonly namespace?: string;
        };
        /** Resources represents the minimum resources the volume should have. */
        readonly resources?: {
          /** Limits describes the maximum amount of compute resources allowed. */
          readonly limits?: Readonly<Record<string, string | number>>;
          /** Requests describes the minimum amount of compute resources required. */
          readonly requests?: Readonly<Record<string, string | number>>;
        };
        /** A label query over volumes to consider for binding. */
        readonly selector?: {
          /** matchExpressions is a list of label selector requirements. */
          readonly matchExpressions?: readonly {
            /** key is the label key that the selector applies to. */
            readonly key: string;
            /** operator represents a key's relationship to a set of values. */
            readonly operator: string;
            /** values is an array of string values. */
            readonly values?: readonly string[];
          }[];
          /** matchLabels is a map of {key,value} pairs. */
          readonly matchLabels?: Readonly<Record<string, string>>;
        };
        /** Name of the StorageClass required by the claim. */
        readonly storageClassName?: string;
        /** volumeMode defines what type of volume is required by the claim. */
        readonly volumeMode?: string;
        /** VolumeName is the binding reference to the PersistentVolume backing this claim. */
        readonly volumeName?: string;
      };
    };
    /** DataVolumeTemplateDummyStatus is here simply for backwards compatibility with a previous API. */
    readonly status?: Readonly<Record<string, unknown>> | null;
  } | null)[];
  /** InstancetypeMatcher references a instancetype that is used to fill fields in Template */
  readonly instancetype?: {
    /** InferFromVolume lists the name of a volume that should be used to infer or discover the instancetype to be used through known annotations on the underlying resource. */
    readonly inferFromVolume?: string;
    /** InferFromVolumeFailurePolicy controls what should happen on failure when inferring the instancetype. */
    readonly inferFromVolumeFailurePolicy?: string;
    /** Kind specifies which instancetype resource is referenced. */
    readonly kind?: string;
    /** Name is the name of the VirtualMachineInstancetype or VirtualMachineClusterInstancetype */
    readonly name?: string;
    /** RevisionName specifies a ControllerRevision containing a specific copy of the VirtualMachineInstancetype or VirtualMachineClusterInstancetype to be used. */
    readonly revisionName?: string;
  };
  /** PreferenceMatcher references a set of preference that is used to fill fields in Template */
  readonly preference?: {
    /** InferFromVolume lists the name of a volume that should be used to infer or discover the preference to be used through known annotations on the underlying resource. */
    readonly inferFromVolume?: string;
    /** InferFromVolumeFailurePolicy controls what should happen on failure when preference the instancetype. */
    readonly inferFromVolumeFailurePolicy?: string;
    /** Kind specifies which preference resource is referenced. */
    readonly kind?: string;
    /** Name is the name of the VirtualMachinePreference or VirtualMachineClusterPreference */
    readonly name?: string;
    /** RevisionName specifies a ControllerRevision containing a specific copy of the VirtualMachinePreference or VirtualMachineClusterPreference to be used. */
    readonly revisionName?: string;
  };
  /** Running state indicates the requested running state of the VirtualMachineInstance mutually exclusive with Running Following are allowed values: - "Always": VMI should always be running. */
  readonly runStrategy?: string;
  /** Running controls whether the associatied VirtualMachineInstance is created or not Mutually exclusive with RunStrategy Deprecated: VirtualMachineInstance field "Running" is now deprecated, please use RunStrategy instead. */
  readonly running?: boolean;
  /** Template is the direct specification of VirtualMachineInstance */
  readonly template: {
    readonly metadata?: ObjectMeta | null;
    /** VirtualMachineInstance Spec contains the VirtualMachineInstance specification. */
    readonly spec?: VirtualMachineInstanceSpec;
  };
  /** UpdateVolumesStrategy is the strategy to apply on volumes updates */
  readonly updateVolumesStrategy?: string;
}

/** Status holds the current state of the controller and brief information about its associated VirtualMachineInstance */
export interface VirtualMachineStatus {
  /** ChangedBlockTracking represents the status of the changedBlockTracking */
  readonly changedBlockTracking?: {
    /** BackupStatus represents the status of vmi backup */
    readonly backupStatus?: {
      /** BackupMsg resturns any relevant information like failure reason unfreeze failed etc... */
      readonly backupMsg?: string;
      /** BackupName is the name of the executed backup */
      readonly backupName?: string;
      /** CheckpointName is the name of the checkpoint created for the backup */
      readonly checkpointName?: string;
      /** Completed indicates the backup completed */
      readonly completed?: boolean;
      /** EndTimestamp is the timestamp when the backup ended */
      readonly endTimestamp?: string;
      /** Failed indicates that the backup failed */
      readonly failed?: boolean;
      /** StartTimestamp is the timestamp when the backup started */
      readonly startTimestamp?: string;
      /** Volumes lists the volumes included in the backup */
      readonly volumes?: readonly {
        /** DataEndpoint is the URL of the endpoint for read for pull mode */
        readonly dataEndpoint?: string;
        /** DiskTarget is the disk target device name at backup time */
        readonly diskTarget: string;
        /** MapEndpoint is the URL of the endpoint for map for pull mode */
        readonly mapEndpoint?: string;
        /** VolumeName is the volume name from VMI spec */
        readonly volumeName: string;
      }[];
    } | null;
    /** State represents the current CBT state */
    readonly state: string;
  } | null;
  /** Hold the state information of the VirtualMachine and its VirtualMachineInstance */
  readonly conditions?: readonly {
    readonly lastProbeTime?: string | null;
    readonly lastTransitionTime?: string | null;
    readonly message?: string;
    readonly reason?: string;
    readonly status: string;
    readonly type: string;
  }[];
  /** Created indicates if the virtual machine is created in the cluster */
  readonly created?: boolean;
  /** DesiredGeneration is the generation which is desired for the VMI. */
  readonly desiredGeneration?: number;
  /** InstancetypeRef captures the state of any referenced instance type from the VirtualMachine */
  readonly instancetypeRef?: {
    /** ControllerRef specifies the ControllerRevision storing a copy of the object captured when it is first seen by the VirtualMachine controller */
    readonly controllerRevisionRef?: {
      /** Name of the ControllerRevision */
      readonly name?: string;
    };
    /** InferFromVolume lists the name of a volume that should be used to infer or discover the resource */
    readonly inferFromVolume?: string;
    /** InferFromVolumeFailurePolicy controls what should happen on failure when inferring the resource */
    readonly inferFromVolumeFailurePolicy?: string;
    /** Kind specifies the kind of resource */
    readonly kind?: string;
    /** Name is the name of resource */
    readonly name?: string;
  } | null;
  /** MemoryDumpRequest tracks memory dump request phase and info of getting a memory dump to the given pvc */
  readonly memoryDumpRequest?: {
    /** ClaimName is the name of the pvc that will contain the memory dump */
    readonly claimName: string;
    /** EndTimestamp represents the time the memory dump was completed */
    readonly endTimestamp?: string;
    /** FileName represents the name of the output file */
    readonly fileName?: string;
    /** Message is a detailed message about failure of the memory dump */
    readonly message?: string;
    /** Phase represents the memory dump phase */
    readonly phase: string;
    /** Remove represents request of dissociating the memory dump pvc */
    readonly remove?: boolean;
    /** StartTimestamp represents the time the memory dump started */
    readonly startTimestamp?: string;
  } | null;
  /** ObservedGeneration is the generation observed by the vmi when started. */
  readonly observedGeneration?: number;
  /** PreferenceRef captures the state of any referenced preference from the VirtualMachine */
  readonly preferenceRef?: {
    /** ControllerRef specifies the ControllerRevision storing a copy of the object captured when it is first seen by the VirtualMachine controller */
    readonly controllerRevisionRef?: {
      /** Name of the ControllerRevision */
      readonly name?: string;
    };
    /** InferFromVolume lists the name of a volume that should be used to infer or discover the resource */
    readonly inferFromVolume?: string;
    /** InferFromVolumeFailurePolicy controls what should happen on failure when inferring the resource */
    readonly inferFromVolumeFailurePolicy?: string;
    /** Kind specifies the kind of resource */
    readonly kind?: string;
    /** Name is the name of resource */
    readonly name?: string;
  } | null;
  /** PrintableStatus is a human readable, high-level representation of the status of the virtual machine */
  readonly printableStatus?: string;
  /** Ready indicates if the virtual machine is running and ready */
  readonly ready?: boolean;
  /** RestoreInProgress is the name of the VirtualMachineRestore currently executing */
  readonly restoreInProgress?: string;
  /** RunStrategy tracks the last recorded RunStrategy used by the VM. */
  readonly runStrategy?: string;
  /** SnapshotInProgress is the name of the VirtualMachineSnapshot currently executing */
  readonly snapshotInProgress?: string;
  /** StartFailure tracks consecutive VMI startup failures for the purposes of crash loop backoffs */
  readonly startFailure?: {
    readonly consecutiveFailCount?: number;
    /** UID is a type that holds unique ID values, including UUIDs. */
    readonly lastFailedVMIUID?: string;
    readonly retryAfterTimestamp?: string;
  } | null;
  /** StateChangeRequests indicates a list of actions that should be taken on a VMI e.g. */
  readonly stateChangeRequests?: readonly {
    /** Indicates the type of action that is requested. */
    readonly action: string;
    /** Provides additional data in order to perform the Action */
    readonly data?: Readonly<Record<string, string>>;
    /** Indicates the UUID of an existing Virtual Machine Instance that this change request applies to -- if applicable */
    readonly uid?: string;
  }[];
  /** VolumeRequests indicates a list of volumes add or remove from the VMI template and hotplug on an active running VMI. */
  readonly volumeRequests?: readonly {
    /** AddVolumeOptions when set indicates a volume should be added. */
    readonly addVolumeOptions?: {
      /** Disk represents the hotplug disk that will be plugged into the running VMI */
      readonly disk: Disk;
      /** When present, indicates that modifications should not be persisted. */
      readonly dryRun?: readonly string[];
      /** Name represents the name that will be used to map the disk to the corresponding volume. */
      readonly name: string;
      /** VolumeSource represents the source of the volume to map to the disk. */
      readonly volumeSource: {
        /** DataVolume represents the dynamic creation a PVC for this volume as well as the process of populating that PVC with a disk image. */
        readonly dataVolume?: {
          /** Hotpluggable indicates whether the volume can be hotplugged and hotunplugged. */
          readonly hotpluggable?: boolean;
          /** Name of both the DataVolume and the PVC in the same namespace. */
          readonly name: string;
        };
        /** PersistentVolumeClaimVolumeSource represents a reference to a PersistentVolumeClaim in the same namespace. */
        readonly persistentVolumeClaim?: {
          /** claimName is the name of a PersistentVolumeClaim in the same namespace as the pod using this volume. */
          readonly claimName: string;
          /** Hotpluggable indicates whether the volume can be hotplugged and hotunplugged. */
          readonly hotpluggable?: boolean;
          /** readOnly Will force the ReadOnly setting in VolumeMounts. */
          readonly readOnly?: boolean;
        };
      };
    };
    /** RemoveVolumeOptions when set indicates a volume should be removed. */
    readonly removeVolumeOptions?: {
      /** When present, indicates that modifications should not be persisted. */
      readonly dryRun?: readonly string[];
      /** Name represents the name that maps to both the disk and volume that should be removed */
      readonly name: string;
    };
  }[];
  /** VolumeSnapshotStatuses indicates a list of statuses whether snapshotting is supported by each volume. */
  readonly volumeSnapshotStatuses?: readonly {
    /** True if the volume supports snapshotting */
    readonly enabled: boolean;
    /** Volume name */
    readonly name: string;
    /** Empty if snapshotting is enabled, contains reason otherwise */
    readonly reason?: string;
  }[];
  /** VolumeUpdateState contains the information about the volumes set updates related to the volumeUpdateStrategy */
  readonly volumeUpdateState?: {
    /** VolumeMigrationState tracks the information related to the volume migration */
    readonly volumeMigrationState?: {
      /** MigratedVolumes lists the source and destination volumes during the volume migration */
      readonly migratedVolumes?: readonly {
        /** DestinationPVCInfo contains the information about the destination PVC */
        readonly destinationPVCInfo?: {
          /** AccessModes contains the desired access modes the volume should have. */
          readonly accessModes?: readonly string[];
          /** Capacity represents the capacity set on the corresponding PVC status */
          readonly capacity?: Readonly<Record<string, string | number>>;
          /** ClaimName is the name of the PVC */
          readonly claimName?: string;
          /** Percentage of filesystem's size to be reserved when resizing the PVC */
          readonly filesystemOverhead?: string;
          /** Preallocated indicates if the PVC's storage is preallocated or not */
          readonly preallocated?: boolean;
          /** Requests represents the resources requested by the corresponding PVC spec */
          readonly requests?: Readonly<Record<string, string | number>>;
          /** VolumeMode defines what type of volume is required by the claim. */
          readonly volumeMode?: string;
        };
        /** SourcePVCInfo contains the information about the source PVC */
        readonly sourcePVCInfo?: {
          /** AccessModes contains the desired access modes the volume should have. */
          readonly accessModes?: readonly string[];
          /** Capacity represents the capacity set on the corresponding PVC status */
          readonly capacity?: Readonly<Record<string, string | number>>;
          /** ClaimName is the name of the PVC */
          readonly claimName?: string;
          /** Percentage of filesystem's size to be reserved when resizing the PVC */
          readonly filesystemOverhead?: string;
          /** Preallocated indicates if the PVC's storage is preallocated or not */
          readonly preallocated?: boolean;
          /** Requests represents the resources requested by the corresponding PVC spec */
          readonly requests?: Readonly<Record<string, string | number>>;
          /** VolumeMode defines what type of volume is required by the claim. */
          readonly volumeMode?: string;
        };
        /** VolumeName is the name of the volume that is being migrated */
        readonly volumeName: string;
      }[];
    };
  };
}

/** VirtualMachineInstanceMigration represents the object tracking a VMI's migration to another host in the cluster */
export interface VirtualMachineInstanceMigration extends KubeObject {
  readonly spec: VirtualMachineInstanceMigrationSpec;
  /** VirtualMachineInstanceMigration reprents information pertaining to a VMI's migration. */
  readonly status?: VirtualMachineInstanceMigrationStatus;
}

export interface VirtualMachineInstanceMigrationSpec {
  /** AddedNodeSelector is an additional selector that can be used to complement a NodeSelector or NodeAffinity as set on the VM to restrict the set of allowed target nodes for a migration. */
  readonly addedNodeSelector?: Readonly<Record<string, string>>;
  /** Priority of the migration. */
  readonly priority?: string;
  /** If receieve is specified, this VirtualMachineInstanceMigration will be considered the target */
  readonly receive?: {
    /** A unique identifier to identify this migration. */
    readonly migrationID: string;
  };
  /** If sendTo is specified, this VirtualMachineInstanceMigration will be considered the source */
  readonly sendTo?: {
    /** The synchronization controller URL to connect to. */
    readonly connectURL: string;
    /** A unique identifier to identify this migration. */
    readonly migrationID: string;
  };
  /** The name of the VMI to perform the migration on. */
  readonly vmiName?: string;
}

/** VirtualMachineInstanceMigration reprents information pertaining to a VMI's migration. */
export interface VirtualMachineInstanceMigrationStatus {
  readonly conditions?: readonly {
    readonly lastProbeTime?: string | null;
    readonly lastTransitionTime?: string | null;
    readonly message?: string;
    readonly reason?: string;
    readonly status: string;
    readonly type: string;
  }[];
  /** Represents the status of a live migration */
  readonly migrationState?: {
    /** Indicates that the migration has been requested to abort */
    readonly abortRequested?: boolean;
    /** Indicates the final status of the live migration abortion */
    readonly abortStatus?: string;
    /** Indicates the migration completed */
    readonly completed?: boolean;
    /** The time the migration action ended */
    readonly endTimestamp?: string | null;
    /** Indicates that the migration failed */
    readonly failed?: boolean;
    /** Contains the reason why the migration failed */
    readonly failureReason?: string;
    /** Migration configurations to apply */
    readonly migrationConfiguration?: {
      /** AllowAutoConverge allows the platform to compromise performance/availability of VMIs to guarantee successful VMI live migrations. */
      readonly allowAutoConverge?: boolean;
      /** AllowPostCopy enables post-copy live migrations. */
      readonly allowPostCopy?: boolean;
      /** AllowWorkloadDisruption indicates that the migration shouldn't be canceled after acceptableCompletionTime is exceeded. */
      readonly allowWorkloadDisruption?: boolean;
      /** BandwidthPerMigration limits the amount of network bandwidth live migrations are allowed to use. */
      readonly bandwidthPerMigration?: string | number;
      /** CompletionTimeoutPerGiB is the maximum number of seconds per GiB a migration is allowed to take. */
      readonly completionTimeoutPerGiB?: number;
      /** When set to true, DisableTLS will disable the additional layer of live migration encryption provided by KubeVirt. */
      readonly disableTLS?: boolean;
      /** By default, the SELinux level of target virt-launcher pods is forced to the level of the source virt-launcher. */
      readonly matchSELinuxLevelOnMigration?: boolean;
      /** Network is the name of the CNI network to use for live migrations. */
      readonly network?: string;
      /** NodeDrainTaintKey defines the taint key that indicates a node should be drained. */
      readonly nodeDrainTaintKey?: string;
      /** ParallelMigrationsPerCluster is the total number of concurrent live migrations allowed cluster-wide. */
      readonly parallelMigrationsPerCluster?: number;
      /** ParallelOutboundMigrationsPerNode is the maximum number of concurrent outgoing live migrations allowed per node. */
      readonly parallelOutboundMigrationsPerNode?: number;
      /** ProgressTimeout is the maximum number of seconds a live migration is allowed to make no progress. */
      readonly progressTimeout?: number;
      /** UnsafeMigrationOverride allows live migrations to occur even if the compatibility check indicates the migration will be unsafe to the guest. */
      readonly unsafeMigrationOverride?: boolean;
      /** UtilityVolumesTimeout is the maximum number of seconds a migration can wait in Pending state for utility volumes to be detached. */
      readonly utilityVolumesTimeout?: number;
    };
    /** The type of migration network, either 'pod' or 'migration' */
    readonly migrationNetworkType?: string;
    /** Name of the migration policy. */
    readonly migrationPolicyName?: string;
    /** The VirtualMachineInstanceMigration object associated with this migration */
    readonly migrationUid?: string;
    /** Lets us know if the vmi is currently running pre or post copy migration */
    readonly mode?: string;
    /** The source node that the VMI originated on */
    readonly sourceNode?: string;
    /** If the VMI being migrated uses persistent features (backend-storage), its source PVC name is saved here */
    readonly sourcePersistentStatePVCName?: string;
    readonly sourcePod?: string;
    /** SourceState contains migration state managed by the source virt handler */
    readonly sourceState?: {
      /** The name of the domain on the source libvirt domain */
      readonly domainName?: string;
      /** Namespace used in the name of the source libvirt domain. */
      readonly domainNamespace?: string;
      /** The Source VirtualMachineInstanceMigration object associated with this migration */
      readonly migrationUID?: string;
      /** The source node that the VMI originated on */
      readonly node?: string;
      /** Node selectors needed by the target to start the receiving pod. */
      readonly nodeSelectors?: Readonly<Record<string, string>>;
      /** If the VMI being migrated uses persistent features (backend-storage), its source PVC name is saved here */
      readonly persistentStatePVCName?: string;
      /** The source pod that the VMI is originated on */
      readonly pod?: string;
      /** SELinuxContext is the actual SELinux context of the pod */
      readonly selinuxContext?: string;
      /** The ip address/fqdn:port combination to use to synchronize the VMI with the target. */
      readonly syncAddress?: string;
      /** VirtualMachineInstanceUID is the UID of the target virtual machine instance */
      readonly virtualMachineInstanceUID?: string;
    };
    /** The time the migration action began */
    readonly startTimestamp?: string | null;
    /** The UID of the target attachment pod for hotplug volumes */
    readonly targetAttachmentPodUID?: string;
    /** If the VMI requires dedicated CPUs, this field will hold the dedicated CPU set on the target node */
    readonly targetCPUSet?: readonly number[];
    /** The list of ports opened for live migration on the destination node */
    readonly targetDirectMigrationNodePorts?: Readonly<Record<string, number>>;
    /** TargetMemoryOverhead is the memory overhead of the target virt-launcher pod */
    readonly targetMemoryOverhead?: string | number;
    /** The target node that the VMI is moving to */
    readonly targetNode?: string;
    /** The address of the target node to use for the migration */
    readonly targetNodeAddress?: string;
    /** The Target Node has seen the Domain Start Event */
    readonly targetNodeDomainDetected?: boolean;
    /** The timestamp at which the target node detects the domain is active */
    readonly targetNodeDomainReadyTimestamp?: string;
    /** If the VMI requires dedicated CPUs, this field will hold the numa topology on the target node */
    readonly targetNodeTopology?: string;
    /** If the VMI being migrated uses persistent features (backend-storage), its target PVC name is saved here */
    readonly targetPersistentStatePVCName?: string;
    /** The target pod that the VMI is moving to */
    readonly targetPod?: string;
    /** TargetState contains migration state managed by the target virt handler */
    readonly targetState?: {
      /** The UID of the target attachment pod for hotplug volumes */
      readonly attachmentPodUID?: string;
      /** If the VMI requires dedicated CPUs, this field will hold the dedicated CPU set on the target node */
      readonly cpuSet?: readonly number[];
      /** The list of ports opened for live migration on the destination node */
      readonly directMigrationNodePorts?: Readonly<Record<string, number>>;
      /** The Target Node has seen the Domain Start Event */
      readonly domainDetected?: boolean;
      /** The name of the domain on the source libvirt domain */
      readonly domainName?: string;
      /** Namespace used in the name of the source libvirt domain. */
      readonly domainNamespace?: string;
      /** The timestamp at which the target node detects the domain is active */
      readonly domainReadyTimestamp?: string;
      /** The Source VirtualMachineInstanceMigration object associated with this migration */
      readonly migrationUID?: string;
      /** The source node that the VMI originated on */
      readonly node?: string;
      /** The address of the target node to use for the migration */
      readonly nodeAddress?: string;
      /** If the VMI requires dedicated CPUs, this field will hold the numa topology on the target node */
      readonly nodeTopology?: string;
      /** If the VMI being migrated uses persistent features (backend-storage), its source PVC name is saved here */
      readonly persistentStatePVCName?: string;
      /** The source pod that the VMI is originated on */
      readonly pod?: string;
      /** SELinuxContext is the actual SELinux context of the pod */
      readonly selinuxContext?: string;
      /** The ip address/fqdn:port combination to use to synchronize the VMI with the target. */
      readonly syncAddress?: string;
      /** VirtualMachineInstanceUID is the UID of the target virtual machine instance */
      readonly virtualMachineInstanceUID?: string;
    };
  };
  /** VirtualMachineInstanceMigrationPhase is a label for the condition of a VirtualMachineInstanceMigration at the current time. */
  readonly phase?: string;
  /** PhaseTransitionTimestamp is the timestamp of when the last phase change occurred */
  readonly phaseTransitionTimestamps?: readonly {
    /** Phase is the status of the VirtualMachineInstanceMigrationPhase in kubernetes world. */
    readonly phase?: string;
    /** PhaseTransitionTimestamp is the timestamp of when the phase change occurred */
    readonly phaseTransitionTimestamp?: string;
  }[];
  /** The synchronization addresses one can use to connect to the synchronization controller, includes the port, if multiple addresses are available, the first one is reported in the synchronizationAddress field. */
  readonly synchronizationAddresses?: readonly string[];
}
