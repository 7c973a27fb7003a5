// Written by generate/write-definitions.ts; see generated/NOTICE of this package.

import type { KubeObject } from '../../meta/object.ts';

/** HelmChart represents configuration and state for the deployment of a Helm chart. */
export interface HelmChart extends KubeObject {
  /** HelmChartSpec represents the user-configurable details for installation and upgrade of a Helm chart release. */
  readonly spec?: HelmChartSpec;
  /** HelmChartStatus represents the resulting state from processing HelmChart events */
  readonly status?: HelmChartStatus;
}

/** HelmChartSpec represents the user-configurable details for installation and upgrade of a Helm chart release. */
export interface HelmChartSpec {
  /** Pass Basic auth credentials to all domains. */
  readonly authPassCredentials?: boolean;
  /** Reference to Secret of type kubernetes.io/basic-auth holding Basic auth credentials for the Chart repo. */
  readonly authSecret?: {
    /** Name of the referent. */
    readonly name?: string;
  };
  /** Specify the number of retries before considering the helm job failed. */
  readonly backOffLimit?: number;
  /** Set to True if this chart is needed to bootstrap the cluster (Cloud Controller Manager, CNI, etc). */
  readonly bootstrap?: boolean;
  /** Helm Chart name in repository, or complete HTTPS URL to chart archive (.tgz) Helm CLI positional argument/flag: `CHART` */
  readonly chart?: string;
  /** Base64-encoded chart archive .tgz; overides `.spec.chart` and `.spec.version`. */
  readonly chartContent?: string;
  /** Create target namespace if not present. */
  readonly createNamespace?: boolean;
  /** Reference to Secret of type kubernetes.io/dockerconfigjson holding Docker auth credentials for the OCI-based registry acting as the Chart repo. */
  readonly dockerRegistrySecret?: {
    /** Name of the referent. */
    readonly name?: string;
  };
  /** Helm storage driver to use for this chart's release metadata. */
  readonly driver?: 'secret' | 'configmap';
  /** Configures handling of failed chart installation or upgrades. */
  readonly failurePolicy?: 'abort' | 'reinstall' | 'retry';
  /** Set to true if helm should configure server-side apply to force changes when conflicts arise in ownership of managed fields. */
  readonly forceConflicts?: boolean;
  /** DEPRECATED. */
  readonly helmVersion?: string;
  /** Skip TLS certificate checks for the chart download. */
  readonly insecureSkipTLSVerify?: boolean;
  /** Specify the image to use for tht helm job pod when installing or upgrading the helm chart. */
  readonly jobImage?: string;
  /** Use insecure HTTP connections for the chart download. */
  readonly plainHTTP?: boolean;
  /** Custom PodSecurityContext for the helm job pod. */
  readonly podSecurityContext?: {
    /** appArmorProfile is the AppArmor options to use by the containers in this pod. */
    readonly appArmorProfile?: {
      /** localhostProfile indicates a profile loaded on the node that should be used. */
      readonly localhostProfile?: string;
      /** type indicates which kind of AppArmor profile will be applied. */
      readonly type: string;
    };
    /** A special supplemental group that applies to all containers in a pod. */
    readonly fsGroup?: number;
    /** fsGroupChangePolicy defines behavior of changing ownership and permission of the volume before being exposed inside Pod. */
    readonly fsGroupChangePolicy?: string;
    /** The GID to run the entrypoint of the container process. */
    readonly runAsGroup?: number;
    /** Indicates that the container must run as a non-root user. */
    readonly runAsNonRoot?: boolean;
    /** The UID to run the entrypoint of the container process. */
    readonly runAsUser?: number;
    /** seLinuxChangePolicy defines how the container's SELinux label is applied to all volumes used by the Pod. */
    readonly seLinuxChangePolicy?: string;
    /** The SELinux context to be applied to all containers. */
    readonly seLinuxOptions?: {
      /** Level is SELinux level label that applies to the container. */
      readonly level?: string;
      /** Role is a SELinux role label that applies to the container. */
      readonly role?: string;
      /** Type is a SELinux type label that applies to the container. */
      readonly type?: string;
      /** User is a SELinux user label that applies to the container. */
      readonly user?: string;
    };
    /** The seccomp options to use by the containers in this pod. */
    readonly seccompProfile?: {
      /** localhostProfile indicates a profile defined in a file on the node should be used. */
      readonly localhostProfile?: string;
      /** type indicates which kind of seccomp profile will be applied. */
      readonly type: string;
    };
    /** A list of groups applied to the first process run in each container, in addition to the container's primary GID and fsGroup (if specified). */
    readonly supplementalGroups?: readonly number[];
    /** Defines how supplemental groups of the first container processes are calculated. */
    readonly supplementalGroupsPolicy?: string;
    /** Sysctls hold a list of namespaced sysctls used for the pod. */
    readonly sysctls?: readonly {
      /** Name of a property to set */
      readonly name: string;
      /** Value of a property to set */
      readonly value: string;
    }[];
    /** The Windows specific settings applied to all containers. */
    readonly windowsOptions?: {
      /** GMSACredentialSpec is where the GMSA admission webhook (https://github.com/kubernetes-sigs/windows-gmsa) inlines the contents of the GMSA credential spec named by the GMSACredentialSpecName field. */
      readonly gmsaCredentialSpec?: string;
      /** GMSACredentialSpecName is the name of the GMSA credential spec to use. */
      readonly gmsaCredentialSpecName?: string;
      /** HostProcess determines if a container should be run as a 'Host Process' container. */
      readonly hostProcess?: boolean;
      /** The UserName in Windows to run the entrypoint of the container process. */
      readonly runAsUserName?: string;
    };
  };
  /** Helm Chart repository URL. */
  readonly repo?: string;
  /** Verify certificates of HTTPS-enabled servers using this CA bundle. */
  readonly repoCA?: string;
  /** Reference to a ConfigMap containing CA Certificates to be be trusted by Helm. */
  readonly repoCAConfigMap?: {
    /** Name of the referent. */
    readonly name?: string;
  };
  /** custom SecurityContext for the helm job pod. */
  readonly securityContext?: {
    /** AllowPrivilegeEscalation controls whether a process can gain more privileges than its parent process. */
    readonly allowPrivilegeEscalation?: boolean;
    /** appArmorProfile is the AppArmor options to use by this container. */
    readonly appArmorProfile?: {
      /** localhostProfile indicates a profile loaded on the node that should be used. */
      readonly localhostProfile?: string;
      /** type indicates which kind of AppArmor profile will be applied. */
      readonly type: string;
    };
    /** The capabilities to add/drop when running containers. */
    readonly capabilities?: {
      /** Added capabilities */
      readonly add?: readonly string[];
      /** Removed capabilities */
      readonly drop?: readonly string[];
    };
    /** Run container in privileged mode. */
    readonly privileged?: boolean;
    /** procMount denotes the type of proc mount to use for the containers. */
    readonly procMount?: string;
    /** Whether this container has a read-only root filesystem. */
    readonly readOnlyRootFilesystem?: boolean;
    /** The GID to run the entrypoint of the container process. */
    readonly runAsGroup?: number;
    /** Indicates that the container must run as a non-root user. */
    readonly runAsNonRoot?: boolean;
    /** The UID to run the entrypoint of the container process. */
    readonly runAsUser?: number;
    /** The SELinux context to be applied to the container. */
    readonly seLinuxOptions?: {
      /** Level is SELinux level label that applies to the container. */
      readonly level?: string;
      /** Role is a SELinux role label that applies to the container. */
      readonly role?: string;
      /** Type is a SELinux type label that applies to the container. */
      readonly type?: string;
      /** User is a SELinux user label that applies to the container. */
      readonly user?: string;
    };
    /** The seccomp options to use by this container. */
    readonly seccompProfile?: {
      /** localhostProfile indicates a profile defined in a file on the node should be used. */
      readonly localhostProfile?: string;
      /** type indicates which kind of seccomp profile will be applied. */
      readonly type: string;
    };
    /** The Windows specific settings applied to all containers. */
    readonly windowsOptions?: {
      /** GMSACredentialSpec is where the GMSA admission webhook (https://github.com/kubernetes-sigs/windows-gmsa) inlines the contents of the GMSA credential spec named by the GMSACredentialSpecName field. */
      readonly gmsaCredentialSpec?: string;
      /** GMSACredentialSpecName is the name of the GMSA credential spec to use. */
      readonly gmsaCredentialSpecName?: string;
      /** HostProcess determines if a container should be run as a 'Host Process' container. */
      readonly hostProcess?: boolean;
      /** The UserName in Windows to run the entrypoint of the container process. */
      readonly runAsUserName?: string;
    };
  };
  /** Set to true if helm should enable server-side apply when updating objects. */
  readonly serverSide?: 'true' | 'false' | 'auto';
  /** Override simple Chart values. */
  readonly set?: Readonly<Record<string, string | number>>;
  /** Set to True if helm should take ownership of existing resources when installing/upgrading the chart. */
  readonly takeOwnership?: boolean;
  /** Helm Chart target namespace. */
  readonly targetNamespace?: string;
  /** Timeout for Helm operations. */
  readonly timeout?: string;
  /** Override complex Chart values via structured YAML. */
  readonly values?: unknown;
  /** Override complex Chart values via inline YAML content. */
  readonly valuesContent?: string;
  /** Override complex Chart values via references to external Secrets. */
  readonly valuesSecrets?: readonly ValuesSecret[];
  /** Helm Chart version. */
  readonly version?: string;
}

/** HelmChartStatus represents the resulting state from processing HelmChart events */
export interface HelmChartStatus {
  /** `JobCreated` indicates that a job has been created to install or upgrade the chart. */
  readonly conditions?: readonly HelmChartCondition[];
  /** The name of the job created to install or upgrade the chart. */
  readonly jobName?: string;
}

export interface HelmChartCondition {
  /** Human readable message indicating details about last transition. */
  readonly message?: string;
  /** (brief) reason for the condition's last transition. */
  readonly reason?: string;
  /** Status of the condition, one of True, False, Unknown. */
  readonly status: string;
  /** Type of job condition. */
  readonly type: string;
}

/** SecretSpec describes a key in a secret to load chart values from. */
export interface ValuesSecret {
  /** Ignore changes to the secret, and mark the secret as optional. */
  readonly ignoreUpdates?: boolean;
  /** Keys to read values content from. */
  readonly keys?: readonly string[];
  /** Name of the secret. */
  readonly name?: string;
}

/** HelmChartConfig represents additional configuration for the installation of Helm chart release. */
export interface HelmChartConfig extends KubeObject {
  /** HelmChartConfigSpec represents additional user-configurable details of an installed and configured Helm chart release. */
  readonly spec?: HelmChartConfigSpec;
}

/** HelmChartConfigSpec represents additional user-configurable details of an installed and configured Helm chart release. */
export interface HelmChartConfigSpec {
  /** Configures handling of failed chart installation or upgrades. */
  readonly failurePolicy?: 'abort' | 'reinstall' | 'retry';
  /** Set to true if helm should configure server-side apply to force changes when conflicts arise in ownership of managed fields. */
  readonly forceConflicts?: boolean;
  /** Set to true if helm should enable server-side apply when updating objects. */
  readonly serverSide?: 'true' | 'false' | 'auto';
  /** Override complex Chart values via structured YAML. */
  readonly values?: unknown;
  /** Override complex Chart values via inline YAML content. */
  readonly valuesContent?: string;
  /** Override complex Chart values via references to external Secrets. */
  readonly valuesSecrets?: readonly ValuesSecret[];
}
