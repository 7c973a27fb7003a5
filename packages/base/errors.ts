import type { JsonObject } from './json.ts';

/** Reasons of the Kubernetes API conventions (`metav1.StatusReason`); clients test for these first, then for the code. */
export type StatusReason =
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'
  /** How a command in a container ended; only ever told on its own stream. */
  | 'NonZeroExitCode'
  | '';

export const statusCodes: Readonly<Record<StatusReason, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Invalid: 422,
  ServerTimeout: 500,
  Timeout: 504,
  TooManyRequests: 429,
  BadRequest: 400,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  InternalError: 500,
  Expired: 410,
  ServiceUnavailable: 503,
  NonZeroExitCode: 500,
  '': 400,
};

/** One cause in `Status.details.causes`. `field` is a path such as `spec.containers[0].name`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusErrorOptions {
  readonly reason: StatusReason;
  readonly message: string;
  readonly details?: StatusDetails;
  /** The HTTP status, where it is not the reason's usual one. */
  readonly code?: number;
  /** Extra `metadata` of the Status, e.g. the `continue` token of an expired list. */
  readonly metadata?: JsonObject;
  readonly cause?: unknown;
}

const marker = Symbol.for('sheaf.StatusError');

/** A failure that a client sees as a Kubernetes `Status`. The HTTP edge and the reconcile loop alone translate it. */
export class StatusError extends Error {
  readonly [marker] = true;
  readonly reason: StatusReason;
  readonly code: number;
  readonly details: StatusDetails | undefined;
  readonly metadata: JsonObject;

  constructor(options: StatusErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = 'StatusError';
    this.reason = options.reason;
    this.code = options.code ?? statusCodes[options.reason];
    this.details = options.details;
    this.metadata = options.metadata ?? {};
  }

  /** True for errors of this class, also from another copy of the package. */
  static is(error: unknown, reason?: StatusReason): error is StatusError {
    if (!(error instanceof Error) || !(marker in error)) return false;
    return reason === undefined || (error as StatusError).reason === reason;
  }

  /** The `Status` object of the API conventions. */
  toStatus(): JsonObject {
    const status: JsonObject = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
    };
    if (this.reason) status['reason'] = this.reason;
    if (this.details) status['details'] = { ...this.details } as JsonObject;
    status['code'] = this.code;
    return status;
  }
}

export function badRequest(message: string, cause?: unknown): StatusError {
  return new StatusError({ reason: 'BadRequest', message, cause });
}

export function internalError(message: string, cause?: unknown): StatusError {
  return new StatusError({ reason: 'InternalError', message: `Internal error occurred: ${message}`, cause });
}

/** Turns any thrown value into an Error; the one place where unknown causes are read. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
