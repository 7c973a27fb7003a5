import { type FieldError, invalid, invalidObject, notSupported, required } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What CreateOptions, UpdateOptions and PatchOptions have in common, from the query. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** As given; the default is made from the User-Agent. */
  readonly fieldManager: string | undefined;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean | undefined;
}

const managerLimit = 128;

/** @throws StatusError 422, worded for `kind`, e.g. `CreateOptions` */
export function readWriteOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  isApply = false,
): WriteOptions {
  const errors: FieldError[] = [];
  const fieldManager = query.get('fieldManager') || undefined;
  if (fieldManager !== undefined) errors.push(...managerErrors(fieldManager));
  else if (isApply) errors.push(required('fieldManager', 'is required for apply patch'));
  const dryRun = readDryRun(query.getAll('dryRun'), errors);
  const force = query.has('force') ? isTrue(query.get('force')) : undefined;
  if (kind === 'PatchOptions' && force !== undefined && !isApply) {
    errors.push({
      type: 'FieldValueForbidden',
      field: 'force',
      message: 'Forbidden: may not be specified for non-apply patch',
    });
  }
  const fieldValidation = readFieldValidation(query.get('fieldValidation'), errors);
  if (errors.length > 0) throw invalidObject({ kind, group: 'meta.k8s.io', name: '' }, errors);
  return { dryRun, fieldManager, fieldValidation, force };
}

/** The options object that admission and webhooks see. */
export function toOptionsObject(options: WriteOptions, kind: string): JsonObject {
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(options.dryRun ? { dryRun: ['All'] } : {}),
    ...(options.force === undefined ? {} : { force: options.force }),
    ...(options.fieldManager === undefined ? {} : { fieldManager: options.fieldManager }),
    fieldValidation: options.fieldValidation,
  };
}

/** The manager on whom a write's fields are booked: the parameter, else the User-Agent up to its first `/`. */
export function managerName(options: WriteOptions, userAgent: string | undefined): string {
  if (options.fieldManager !== undefined) return options.fieldManager;
  const name = (userAgent ?? '').split('/', 1)[0] ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names must be printable
  const printable = name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '').slice(0, managerLimit);
  return printable === '' ? 'unknown' : printable;
}

export function isTrue(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

export function readDryRun(values: readonly string[], errors: FieldError[]): boolean {
  if (values.some((value) => value !== 'All')) errors.push(notSupported('dryRun', values, ['All']));
  return values.length > 0;
}

function readFieldValidation(value: string | null, errors: FieldError[]): FieldValidation {
  if (value === null || value === '') return 'Warn';
  if (value === 'Ignore' || value === 'Warn' || value === 'Strict') return value;
  errors.push(notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn']));
  return 'Warn';
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (manager.length > managerLimit) {
    errors.push({
      type: 'FieldValueTooLong',
      field: 'fieldManager',
      message: `Too long: may not be more than ${managerLimit} bytes`,
    });
  }
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(manager);
  if (unprintable) {
    const code = (unprintable[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const detail = `invalid character U+${code} (at position ${unprintable.index})`;
    errors.push(invalid('fieldManager', manager, detail));
  }
  return errors;
}
