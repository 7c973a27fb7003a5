import { invalid, required } from '../../meta/field-error.ts';
import type { Errors } from '../checks.ts';

export function checkNoBacksteps(errors: Errors, field: string, path: string): void {
  if (path.split('/').includes('..')) errors.push(invalid(field, path, "must not contain '..'"));
}

/** A path that stays below where it starts. */
export function checkDescendingPath(errors: Errors, field: string, path: string): void {
  if (path.startsWith('/')) errors.push(invalid(field, path, 'must be a relative path'));
  checkNoBacksteps(errors, field, path);
}

/** The same; needed, and not beginning with two dots. */
export function checkLocalPath(errors: Errors, field: string, path: string): void {
  if (path === '') return void errors.push(required(field));
  checkDescendingPath(errors, field, path);
  if (path.startsWith('..') && !path.startsWith('../'))
    errors.push(invalid(field, path, "must not start with '..'"));
}
