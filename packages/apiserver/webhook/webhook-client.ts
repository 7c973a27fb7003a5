/** Where a webhook is. */
export interface WebhookTarget {
  /** `https://host:port/path?query`. */
  readonly url: string;
  /** Where to connect instead of the URL's host and port; the certificate must still be for the URL's host. */
  readonly connect?: { readonly host: string; readonly port: number };
  /** PEM; absent: the authorities that this machine trusts. */
  readonly authority?: string;
}

export interface WebhookLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Posts JSON to a webhook. Redirects are not followed. @throws Error whose message says why there is no answer, e.g.
 * `connection refused`
 */
export type WebhookClient = (
  target: WebhookTarget,
  body: string,
  limits: WebhookLimits,
) => Promise<WebhookAnswer>;
