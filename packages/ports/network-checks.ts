/** Someone who answers on an address, or does not. */
export interface CheckTarget {
  readonly host: string;
  readonly port: number;
}

export interface HttpCheck extends CheckTarget {
  /** Certificates are not looked at. */
  readonly scheme: 'http' | 'https';
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** What came of a check, for people. */
export type CheckResult = { readonly isHealthy: true } | { readonly isHealthy: false; readonly text: string };

/**
 * Looks from this host whether something answers. Resolves always, also when the signal aborts: then it has taken too long. Answers
 * are read only as far as they are needed.
 */
export interface NetworkChecks {
  /** Healthy from status 200 to 399. A redirection to another host is not followed. */
  http(check: HttpCheck, signal: AbortSignal): Promise<CheckResult>;
  /** Healthy if a connection can be made. */
  tcp(target: CheckTarget, signal: AbortSignal): Promise<CheckResult>;
  /** The health protocol of gRPC: healthy if it says SERVING. */
  grpc(target: CheckTarget & { readonly service: string }, signal: AbortSignal): Promise<CheckResult>;
}
