import { isJsonObject, type JsonObject, StatusError, type StatusReason, statusCodes } from '@sheaf/base';

/** What the server said, as an error; also where it was no Status. */
export function toStatusError(code: number, text: string): StatusError {
  const status = parseStatus(text);
  if (status) return statusErrorOf(code, status);
  return new StatusError({
    reason: reasonOf(code),
    code,
    message: text.trim() || `the server answered ${code}`,
  });
}

export function statusErrorOf(code: number, status: StatusFields): StatusError {
  const { reason = '', message = '', details, metadata = {} } = status;
  return new StatusError({
    reason: reason as StatusReason,
    code,
    message,
    metadata,
    ...(details ? { details } : {}),
  });
}

interface StatusFields {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: NonNullable<StatusError['details']>;
  readonly metadata?: JsonObject;
}

function parseStatus(text: string): StatusFields | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) && parsed['kind'] === 'Status' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(code: number): StatusReason {
  const found = Object.entries(statusCodes).find(([reason, value]) => reason !== '' && value === code);
  return (found?.[0] ?? '') as StatusReason;
}
