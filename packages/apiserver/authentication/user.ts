/** Who makes a request (`authentication.k8s.io/v1 UserInfo`). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const anonymousUser: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** What an authenticator may look at. Header names are in lower case. */
export interface Credentials {
  /** The token of `Authorization: Bearer`, without the prefix. */
  readonly bearerToken: string | undefined;
  /** The client certificate, DER, as the TLS layer received it; its chain is not verified yet. */
  readonly clientCertificate: Uint8Array | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * `undefined`: this authenticator has no opinion, the next one is asked. `invalid`: credentials it is responsible for,
 * and they are wrong; the request ends with 401.
 */
export type AuthenticationResult =
  | { readonly user: User; readonly audiences?: readonly string[] }
  | { readonly invalid: string }
  | undefined;

export interface Authenticator {
  authenticate(
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<AuthenticationResult> | AuthenticationResult;
}
