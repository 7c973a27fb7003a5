import type { FieldError } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { countCodePoints, countFields, findDuplicate } from './check.ts';
import { type Correlation, correlateItem, correlateKey, isUnchanged } from './correlation.ts';
import { findFormat } from './formats.ts';
import { goJson, goQuote, showValue } from './go-text.ts';
import { numberRules } from './numbers.ts';
import { getField } from './object-fields.ts';
import { compilePattern, patternFault } from './pattern.ts';
import type { SchemaNode } from './schema-node.ts';
import { enforcedFormat, findTypeFault } from './value-types.ts';

/** One fault, with the text by which faults found twice are recognized. */
interface Fault {
  readonly key: string;
  readonly error: FieldError;
}

/**
 * What was found out about a value. `matches` counts rules that held: of several alternatives that fail, the one with
 * most matches is reported.
 */
export interface Finding {
  faults: Fault[];
  matches: number;
}

/** The value looked at, and the old value it is compared with on updates. */
export interface Subject {
  readonly value: JsonValue | undefined;
  /** Dotted path; empty at the root. */
  readonly path: string;
  readonly old: Correlation | undefined;
}

/** All faults of a value. Slow and exact: call it only for a value that fails its check. */
export function explain(node: SchemaNode, subject: Subject): readonly FieldError[] {
  return explainNode(node, subject).faults.map((fault) => fault.error);
}

function explainNode(node: SchemaNode, subject: Subject): Finding {
  const finding: Finding = { faults: [], matches: 0 };
  const { value } = subject;
  if (value === null || value === undefined) explainNull(node, subject, finding);
  else explainValue(node, subject, finding);
  if (finding.faults.length > 0 && subject.old && isUnchanged(node, value, subject.old.value)) {
    finding.faults = [];
  }
  return finding;
}

function explainNull(node: SchemaNode, subject: Subject, finding: Finding): void {
  explainType(node, subject, finding);
  explainEnum(node, subject, finding);
}

function explainValue(node: SchemaNode, subject: Subject, finding: Finding): void {
  const { value } = subject;
  if (node.type !== '' || node.intOrString || enforcedFormat(node) !== '') {
    explainType(node, subject, finding);
    finding.matches++;
  }
  explainJunctors(node, subject, finding);
  finding.matches += 2;
  if (typeof value === 'string') explainString(node, { ...subject, value }, finding);
  else if (typeof value === 'number') explainNumber(node, subject, finding);
  else if (Array.isArray(value)) explainArray(node, { ...subject, list: value }, finding);
  explainEnum(node, subject, finding);
  if (isJsonObject(value)) explainObject(node, { ...subject, object: value }, finding);
  finding.matches += isJsonObject(value) ? 3 : 2;
}

function explainType(node: SchemaNode, subject: Subject, finding: Finding): void {
  const fault = findTypeFault(node, subject.value);
  if (fault === undefined) finding.matches++;
  else addTypeFault(finding, subject, fault);
}

function addTypeFault(
  finding: Finding,
  subject: Subject,
  fault: { readonly wanted: string; readonly actual: string },
): void {
  const detail = `${subject.path} in body must be of type ${fault.wanted}: ${goQuote(fault.actual)}`;
  const message = `Invalid value: ${goQuote(fault.actual)}: ${detail}`;
  add(finding, detail, { type: 'FieldValueTypeInvalid', field: fieldOf(subject.path), message });
}

function add(finding: Finding, key: string, error: FieldError): void {
  if (!finding.faults.some((fault) => fault.key === key)) finding.faults.push({ key, error });
}

function merge(finding: Finding, other: Finding): void {
  for (const fault of other.faults) add(finding, fault.key, fault.error);
  finding.matches += other.matches;
}

/** The field a path is reported under; the root has none. */
function fieldOf(path: string): string {
  if (path === '') return '<nil>';
  return path.startsWith('.') ? path.slice(1) : path;
}

/** An `Invalid value` with the value and a sentence about it. */
function addInvalid(finding: Finding, subject: Subject, detail: string): void {
  const text = `${subject.path} in body ${detail}`;
  const message = `Invalid value: ${showValue(subject.value)}: ${text}`;
  add(finding, text, { type: 'FieldValueInvalid', field: fieldOf(subject.path), message });
}

/** A fault that is reported without a field. */
function addGeneral(finding: Finding, text: string): void {
  add(finding, text, { type: 'FieldValueInvalid', field: '<nil>', message: `Invalid value: "": ${text}` });
}

function explainEnum(node: SchemaNode, subject: Subject, finding: Finding): void {
  const values = node.enumValues;
  if (values === undefined || values.length === 0) return;
  const { value } = subject;
  if (value !== null && values.some((allowed) => jsonEqual(allowed, value))) return;
  const names = values.map((allowed) => goQuote(typeof allowed === 'string' ? allowed : goJson(allowed)));
  const message = `Unsupported value: ${showValue(value)}: supported values: ${names.join(', ')}`;
  const key = `${subject.path} in body should be one of ${names.join(' ')}`;
  add(finding, key, { type: 'FieldValueNotSupported', field: fieldOf(subject.path), message });
}

interface TextSubject extends Subject {
  readonly value: string;
}

function explainString(node: SchemaNode, subject: TextSubject, finding: Finding): void {
  explainText(node, subject, finding);
  finding.matches++;
  const format = enforcedFormat(node);
  const test = format === '' ? undefined : findFormat(format);
  if (test === undefined) return;
  if (!test(subject.value)) addTypeFault(finding, subject, { wanted: format, actual: subject.value });
  finding.matches++;
}

function explainText(node: SchemaNode, subject: TextSubject, finding: Finding): void {
  const text = subject.value;
  if (node.maxLength !== undefined && countCodePoints(text) > node.maxLength) {
    const unit = node.maxLength === 1 ? 'byte' : 'bytes';
    add(finding, `${subject.path} too long ${node.maxLength}`, {
      type: 'FieldValueTooLong',
      field: fieldOf(subject.path),
      message: `Too long: may not be more than ${node.maxLength} ${unit}`,
    });
  } else if (node.minLength !== undefined && countCodePoints(text) < node.minLength) {
    addInvalid(finding, subject, `should be at least ${node.minLength} chars long`);
  } else if (node.pattern !== '') {
    explainPattern(node.pattern, subject, finding);
  }
}

function explainPattern(pattern: string, subject: TextSubject, finding: Finding): void {
  const problem = patternFault(pattern);
  if (problem !== undefined) {
    addInvalid(finding, subject, `should match '${pattern}, but pattern is invalid: ${problem}'`);
  } else if (!compilePattern(pattern)(subject.value)) {
    addInvalid(finding, subject, `should match '${pattern}'`);
  }
}

function explainNumber(node: SchemaNode, subject: Subject, finding: Finding): void {
  for (const rule of numberRules(node)) {
    const fault = rule(Number(subject.value));
    if (fault === undefined) continue;
    if (fault.about === 'schema') addGeneral(finding, `${fault.detail} in ${subject.path}`);
    else if (fault.about === 'factor') addBadFactor(finding, subject, fault.detail);
    else addInvalid(finding, subject, fault.detail);
  }
  finding.matches += 2;
}

function addBadFactor(finding: Finding, subject: Subject, factor: string): void {
  const text = `factor MultipleOf declared for ${subject.path} must be positive: ${factor}`;
  const message = `Invalid value: ${factor}: ${text}`;
  add(finding, text, { type: 'FieldValueInvalid', field: fieldOf(subject.path), message });
}

interface ListSubject extends Subject {
  readonly list: readonly JsonValue[];
}

function explainArray(node: SchemaNode, subject: ListSubject, finding: Finding): void {
  const { list, path } = subject;
  if (node.items !== undefined) {
    for (let i = 0; i < list.length; i++) {
      const old = correlateItem(node, list[i], subject.old);
      merge(finding, explainNode(node.items, { value: list[i], path: `${path}[${i}]`, old }));
    }
  }
  const size = { ...subject, value: list.length };
  if (node.minItems !== undefined && list.length < node.minItems) {
    addInvalid(finding, size, `should have at least ${node.minItems} items`);
  }
  addTooMany(finding, size, node.maxItems);
  if (node.uniqueItems && findDuplicate(list) >= 0) {
    addInvalid(finding, { ...subject, value: '' }, "shouldn't contain duplicates");
  }
  finding.matches += 2;
}

function addTooMany(finding: Finding, size: Subject, limit: number | undefined): void {
  if (limit === undefined || Number(size.value) <= limit) return;
  add(finding, `${size.path} too many ${limit}`, {
    type: 'FieldValueTooMany',
    field: fieldOf(size.path),
    message: `Too many: ${Number(size.value)}: must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  });
}

interface ObjectSubject extends Subject {
  readonly object: JsonObject;
}

function explainObject(node: SchemaNode, subject: ObjectSubject, finding: Finding): void {
  const size = { ...subject, value: countFields(subject.object) };
  if (node.minProperties !== undefined && size.value < node.minProperties) {
    addInvalid(finding, size, `should have at least ${node.minProperties} properties`);
  }
  addTooMany(finding, size, node.maxProperties);
  explainOtherFields(node, subject, finding);
  for (const [name, property] of node.properties) {
    const value = getField(subject.object, name);
    if (value === undefined) continue;
    const path = subject.path === '' ? name : `${subject.path}.${name}`;
    merge(finding, explainNode(property, { value, path, old: correlateKey(node, name, subject.old) }));
  }
  for (const name of node.required) {
    if (getField(subject.object, name) !== undefined) continue;
    const path = `${subject.path}.${name}`;
    const error: FieldError = { type: 'FieldValueRequired', field: fieldOf(path), message: 'Required value' };
    add(finding, `${path} in body is required`, error);
  }
}

function explainOtherFields(node: SchemaNode, subject: ObjectSubject, finding: Finding): void {
  const { additionalProperties, properties } = node;
  if (additionalProperties === undefined) return;
  for (const key in subject.object) {
    if (properties.has(key)) continue;
    const value = subject.object[key];
    if (!additionalProperties.allows) {
      const text = `${subject.path}.${key} in body is a forbidden property`;
      const message = `Invalid value: ${showValue(key)}: ${text}`;
      add(finding, text, { type: 'FieldValueInvalid', field: fieldOf(subject.path), message });
    } else if (additionalProperties.schema !== undefined) {
      const old = correlateKey(node, key, subject.old);
      merge(
        finding,
        explainNode(additionalProperties.schema, { value, path: `${subject.path}.${key}`, old }),
      );
    }
  }
}

function explainJunctors(node: SchemaNode, subject: Subject, finding: Finding): void {
  const inner: Subject = { value: subject.value, path: subject.path, old: undefined };
  const name = goQuote(subject.path);
  if (node.anyOf.length > 0) explainAnyOf(node, inner, finding);
  if (node.oneOf.length > 0) explainOneOf(node, inner, finding);
  if (node.allOf.length > 0) explainAllOf(node, inner, finding);
  if (node.not !== undefined && explainNode(node.not, inner).faults.length === 0) {
    addGeneral(finding, `${name} must not validate the schema (not)`);
  }
}

function explainAnyOf(node: SchemaNode, subject: Subject, finding: Finding): void {
  let best: Finding | undefined;
  for (const branch of node.anyOf) {
    const result = explainNode(branch, subject);
    if (result.faults.length === 0) return merge(finding, result);
    if (best === undefined || result.matches > best.matches) best = result;
  }
  addGeneral(finding, `${goQuote(subject.path)} must validate at least one schema (anyOf)`);
  if (best !== undefined) merge(finding, best);
}

function explainOneOf(node: SchemaNode, subject: Subject, finding: Finding): void {
  const results = node.oneOf.map((branch) => explainNode(branch, subject));
  const successes = results.filter((result) => result.faults.length === 0);
  const [first] = successes;
  if (first !== undefined && successes.length === 1) return merge(finding, first);
  const found = first === undefined ? 'Found none valid' : `Found ${successes.length} valid alternatives`;
  addGeneral(finding, `${goQuote(subject.path)} must validate one and only one schema (oneOf). ${found}`);
  const best = pickBest(results);
  if (best !== undefined) merge(finding, best);
}

/** The failure with most matches; none if some alternative succeeded. */
function pickBest(results: readonly Finding[]): Finding | undefined {
  let best: Finding | undefined;
  for (const result of results) {
    if (result.faults.length === 0) return undefined;
    if (best === undefined || result.matches > best.matches) best = result;
  }
  return best;
}

function explainAllOf(node: SchemaNode, subject: Subject, finding: Finding): void {
  let valid = 0;
  for (const branch of node.allOf) {
    const result = explainNode(branch, subject);
    if (result.faults.length === 0) valid++;
    merge(finding, result);
  }
  if (valid === node.allOf.length) return;
  const suffix = valid === 0 ? '. None validated' : '';
  addGeneral(finding, `${goQuote(subject.path)} must validate all the schemas (allOf)${suffix}`);
}
