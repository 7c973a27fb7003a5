/** What a container's processes may do. Whatever is absent is as the image says, or as the driver's program does by itself. */
export interface ContainerSecurity {
  /** A number, or a name that the image knows; with its group if `:GROUP` follows. The image's own, if absent. */
  readonly user?: string;
  /** Numbers of further groups. */
  readonly supplementalGroups?: readonly number[];
  /** Names without `CAP_`; `ALL` for all of them. Dropped first, then added. */
  readonly addedCapabilities?: readonly string[];
  readonly droppedCapabilities?: readonly string[];
  /** Everything the host's administrator may do, with all devices. */
  readonly isPrivileged?: boolean;
  readonly hasReadOnlyRoot?: boolean;
  /** Which calls of the kernel are open: those of the engine's profile, all, or those of a profile in a file of the host. */
  readonly seccomp?:
    | { readonly kind: 'default' }
    | { readonly kind: 'unconfined' }
    | { readonly kind: 'file'; readonly path: string };
  /** Programs cannot gain more by being started. */
  readonly isEscalationRefused?: boolean;
  /** Files of the kernel under `/proc` that are hidden otherwise. */
  readonly hasWholeProc?: boolean;
}

/** What a container may use. Whatever is absent is unlimited. */
export interface ContainerResources {
  /** Weight against others when processors are scarce; 1024 for one processor. */
  readonly cpuShares?: number;
  /** Processors at most, such as 0.5. */
  readonly cpuLimit?: number;
  /** More ends the container: `out-of-memory`. */
  readonly memoryLimitBytes?: number;
  readonly processLimit?: number;
  /** -1000 to 1000; who is ended first when the host has no memory left. Lower than this process may set becomes its lowest. */
  readonly outOfMemoryScore?: number;
}
