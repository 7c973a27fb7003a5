import type { FieldError } from '@sheaf/api';
import type { DefinitionNames } from './definition.ts';
import { invalidValue } from './field-errors.ts';
import { dns1035LabelFaults } from './name-syntax.ts';

/** Checks the syntax of a definition's names; empty ones are not looked at. */
export function validateNames(names: DefinitionNames, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular'] as const) addLabel(errors, `${path}.${field}`, names[field]);
  for (const field of ['kind', 'listKind'] as const) addKind(errors, `${path}.${field}`, names[field]);
  names.shortNames.forEach((name, index) => addText(errors, `${path}.shortNames[${index}]`, name));
  if (names.kind !== '' && names.kind === names.listKind) {
    errors.push(invalidValue(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  names.categories.forEach((name, index) => addText(errors, `${path}.categories[${index}]`, name));
  return errors;
}

function addLabel(errors: FieldError[], field: string, name: string): void {
  if (name !== '') addText(errors, field, name);
}

function addText(errors: FieldError[], field: string, name: string): void {
  const faults = dns1035LabelFaults(name);
  if (faults.length > 0) errors.push(invalidValue(field, name, faults.join(',')));
}

function addKind(errors: FieldError[], field: string, kind: string): void {
  const faults = kind === '' ? [] : dns1035LabelFaults(kind.toLowerCase());
  if (faults.length === 0) return;
  const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`;
  errors.push(invalidValue(field, kind, detail));
}
