/** What a driver can do on this machine, as data: features and pages read it, none of them asks which driver it is. */
export interface Capability {
  readonly isAvailable: boolean;
  /** Why it is or is not; for people. */
  readonly reason: string;
  /** How it can be had; with every capability that is not available. */
  readonly wayOut?: string;
}
