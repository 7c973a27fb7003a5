/** A program of this host that containers may run, by the name of an image that no registry has. */
export interface HostProgram {
  /** With its tag: `sheaf.local/helm:3`. */
  readonly reference: string;
  /** An absolute path and what always follows it; a container adds its arguments. */
  readonly command: readonly string[];
  /** Everything that it is given, beside what is listed in `variables`; these win. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of variables that a container may set. Others are left out: some of them make programs run other programs. */
  readonly variables: readonly string[];
  /** Whom it runs as, where this process may choose. */
  readonly userId: number;
  /** Why it cannot be run on this host now, and the way out. */
  readonly problem?: () => { readonly reason: string; readonly wayOut: string } | undefined;
  /** Why what was begun with this environment cannot succeed any more, whatever it does; `undefined`: it may. */
  readonly whyInVain?: (environment: Readonly<Record<string, string>>) => string | undefined;
}

/** Where a program finds what is mounted: the container's path follows. */
export const rootVariable = 'SHEAF_ROOT';
/** On every process of a run, its directory: so those that are left over are known, and those of other data directories are not. */
export const runVariable = 'SHEAF_RUN';
/** Where programs written in JavaScript keep what was compiled, so that it is not compiled again for each run. */
export const compiledVariable = 'NODE_COMPILE_CACHE';
