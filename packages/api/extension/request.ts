import type { JsonObject } from '@sheaf/base';

/** Who makes a request. */
export interface RequestUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** May the user do this? What is left out is meant in general: no namespace is all of them, no name is any. */
export interface AccessQuestion {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** One part of a form. */
export interface BodyPart {
  readonly name: string;
  /** Given for files, as their owner calls them: a text like any other, no path to be trusted. */
  readonly fileName?: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The body of a request, within the limit of what answers it. Read once, in one of the four ways. */
export interface RequestBody {
  /** All of it; empty when there is none. @throws StatusError 413 beyond the limit, 400 when the client breaks off */
  bytes(): Promise<Uint8Array>;
  /** `undefined` when there is none. @throws StatusError 413, 400 also when it is no JSON object */
  json(): Promise<JsonObject | undefined>;
  /**
   * As it comes: who reads slowly slows the sender, nothing is gathered. The client must send something within each minute.
   * @throws StatusError 413, 400
   */
  stream(): AsyncIterable<Uint8Array>;
  /** Of `multipart/form-data`, as they come; the content of one is read before the next is asked for. @throws StatusError 413, 400 */
  parts(): AsyncIterable<BodyPart>;
}

/** A request after authentication, as features see it. */
export interface ApiCall {
  readonly method: string;
  /** Percent-decoding not done. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly user: RequestUser;
  readonly body: RequestBody;
  /** Aborted when the client is gone, the deadline has passed, or the server stops. */
  readonly signal: AbortSignal;
  /** The client asks for a WebSocket. */
  readonly isUpgrade: boolean;
  /** Adds a `Warning` header, which kubectl prints. */
  warn(text: string): void;
  /** Adds `key: value` to the audit event of this request. */
  annotate(key: string, value: string): void;
  /** Whether the user may do something. */
  may(question: AccessQuestion): Promise<boolean>;
  /** @throws StatusError 403 as every resource answers it, if the user may not */
  authorize(question: AccessQuestion): Promise<void>;
}
