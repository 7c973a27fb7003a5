import { type FieldError, required } from '@sheaf/api';
import type { PrinterColumn, ScaleSettings } from './definition.ts';
import { invalidValue } from './field-errors.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Checks a printer column. Whether its path can be evaluated shows only later; then the column stays empty. */
export function validateColumn(column: PrinterColumn, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const typeDetail = `must be one of ${columnTypes.join(',')}`;
  if (column.name === '') errors.push(required(`${path}.name`));
  if (column.type === '') errors.push(required(`${path}.type`, typeDetail));
  else if (!columnTypes.includes(column.type)) {
    errors.push(invalidValue(`${path}.type`, column.type, typeDetail));
  }
  if (column.format !== '' && !columnFormats.includes(column.format)) {
    const detail = `must be one of ${columnFormats.join(',')}`;
    errors.push(invalidValue(`${path}.format`, column.format, detail));
  }
  if (column.jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else errors.push(...validateDotted(column.jsonPath, `${path}.JSONPath`));
  return errors;
}

function validateDotted(text: string, field: string): readonly FieldError[] {
  if (text.startsWith('.')) return [];
  return [invalidValue(field, text, 'must be a simple json path starting with .')];
}

/** Checks the paths of the scale subresource. */
export function validateScaleSettings(scale: ScaleSettings | undefined, path: string): readonly FieldError[] {
  if (scale === undefined) return [];
  return [
    ...validateReplicas(scale.specReplicasPath, `${path}.scale.specReplicasPath`, '.spec'),
    ...validateReplicas(scale.statusReplicasPath, `${path}.scale.statusReplicasPath`, '.status'),
    ...validateSelector(scale.labelSelectorPath, `${path}.scale.labelSelectorPath`),
  ];
}

function validateReplicas(text: string, field: string, parent: string): readonly FieldError[] {
  if (text === '') return [required(field)];
  const errors = validateDotted(text, field);
  if (errors.length > 0 || text.startsWith(`${parent}.`)) return errors;
  return [invalidValue(field, text, `should be a json path under ${parent}`)];
}

function validateSelector(text: string | undefined, field: string): readonly FieldError[] {
  if (text === undefined || text === '') return [];
  const errors = validateDotted(text, field);
  if (errors.length > 0 || text.startsWith('.spec.') || text.startsWith('.status.')) return errors;
  return [invalidValue(field, text, 'should be a json path under either .spec or .status')];
}
