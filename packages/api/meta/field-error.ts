import { type StatusCause, StatusError } from '@sheaf/base';

/** Causes as clients see them in `Status.details.causes[].reason`. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/**
 * One thing wrong with an object. `message` is the whole text as upstream prints it after the field path, e.g.
 * `Invalid value: "x": must be no more than 63 characters`.
 */
export interface FieldError {
  readonly type: FieldErrorType;
  /** e.g. `spec.containers[0].name`, `metadata.labels[key]`. Empty for the whole object. */
  readonly field: string;
  readonly message: string;
}

function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = `${JSON.stringify(value)}`;
  return typeof value === 'string' ? text : escapeMarkup(text);
}

/** Where Go shows a value as JSON, what could be markup is escaped; texts are quoted as they are. */
function escapeMarkup(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${show(value)}: ${detail}` };
}

export function required(field: string, detail = ''): FieldError {
  return {
    type: 'FieldValueRequired',
    field,
    message: detail ? `Required value: ${detail}` : 'Required value',
  };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${show(value)}` };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

export function notSupported(field: string, value: unknown, allowed: readonly string[]): FieldError {
  const list = allowed.map((item) => JSON.stringify(item)).join(', ');
  return {
    type: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${show(value)}: supported values: ${list}`,
  };
}

export function tooLong(field: string, maxBytes: number): FieldError {
  return { type: 'FieldValueTooLong', field, message: `Too long: may not be more than ${maxBytes} bytes` };
}

/** What an invalid object is called in the answer: kind, group and name. */
export interface InvalidSubject {
  readonly kind: string;
  readonly group: string;
  readonly name: string;
}

/** All errors at once as one 422 `Invalid`, worded as the API server words it. */
export function invalidObject(subject: InvalidSubject, errors: readonly FieldError[]): StatusError {
  const texts = errors.map((error) => (error.field ? `${error.field}: ${error.message}` : error.message));
  const joined = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const kind = subject.group ? `${subject.kind}.${subject.group}` : subject.kind;
  const causes: StatusCause[] = errors.map((error) => ({
    reason: error.type,
    message: error.message,
    field: error.field,
  }));
  return new StatusError({
    reason: 'Invalid',
    message: `${kind} ${JSON.stringify(subject.name)} is invalid: ${joined}`,
    details: {
      ...(subject.name ? { name: subject.name } : {}),
      ...(subject.group ? { group: subject.group } : {}),
      ...(subject.kind ? { kind: subject.kind } : {}),
      causes,
    },
  });
}
