import { type FieldError, required } from '@sheaf/api';
import { duplicateValue, invalidValue } from './field-errors.ts';
import type { SchemaNode } from './schema-node.ts';
import { findSchemaAt } from './schema-path.ts';

const maxSelectableFields = 8;
const leafTypes: ReadonlySet<string> = new Set(['string', 'boolean', 'integer']);

/** Selectable fields are simple paths to texts, integers and booleans outside of metadata. */
export function validateSelectableFields(
  paths: readonly string[],
  root: SchemaNode | undefined,
  field: string,
): readonly FieldError[] {
  if (paths.length === 0) return [];
  if (root === undefined) {
    return [invalidValue(field, '', 'may only be set when validations.schema is included')];
  }
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  paths.forEach((path, index) => {
    validatePath(path, { root, field: `${field}[${index}].jsonPath`, errors, seen });
  });
  if (seen.size > maxSelectableFields) {
    const message = `Too many: ${seen.size}: must have at most ${maxSelectableFields} items`;
    errors.push({ type: 'FieldValueTooMany', field, message });
  }
  return errors;
}

interface PathState {
  readonly root: SchemaNode;
  readonly field: string;
  readonly errors: FieldError[];
  readonly seen: Set<string>;
}

function validatePath(path: string, { root, field, errors, seen }: PathState): void {
  if (path === '') {
    errors.push(required(field));
    return;
  }
  const found = findSchemaAt(root, path, { allowsBrackets: false });
  if ('fault' in found) {
    errors.push(invalidValue(field, path, `is an invalid path: ${found.fault}`));
    return;
  }
  if (found.steps[0] === 'metadata') {
    errors.push(invalidValue(field, path, 'must not point to fields in metadata'));
  }
  if (found.schema === undefined || !leafTypes.has(found.schema.type)) {
    const detail =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    errors.push(invalidValue(field, path, detail));
  }
  const key = JSON.stringify(found.steps);
  if (seen.has(key)) errors.push(duplicateValue(field, path));
  seen.add(key);
}
