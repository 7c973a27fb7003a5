import type { ManagedFieldsEntry } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { compareText, FieldsFormatError } from './field-path.ts';
import { type FieldSet, isEmptySet } from './field-set.ts';
import { parseFieldsV1 } from './fields-v1.ts';

/** One entry of `managedFields`, read. */
export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, as it stands in the entry. */
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** The entry this was read from, as long as nothing about it has changed. */
  readonly entry: ManagedFieldsEntry | undefined;
}

export type OwnerName = Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** Whether two entries are the same owner's: an applier keeps its entry when it changes its API version. */
export function isSameOwner(a: OwnerName, b: OwnerName): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/**
 * Reads `metadata.managedFields`. Throws {@link FieldsFormatError} with the reason if any entry is unreadable. Of two entries of one
 * owner the later counts.
 */
export function readOwners(entries: JsonValue | readonly ManagedFieldsEntry[] | undefined): readonly Owner[] {
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries)) throw new FieldsFormatError('managedFields must be a list');
  const owners: Owner[] = [];
  for (const [index, entry] of entries.entries()) {
    const owner = readOwner(entry, index);
    const twin = owners.findIndex((other) => isSameOwner(other, owner));
    if (twin < 0) owners.push(owner);
    else owners[twin] = owner;
  }
  return owners;
}

function readOwner(entry: JsonValue, index: number): Owner {
  if (!isJsonObject(entry)) throw new FieldsFormatError(`managed fields entry ${index} is not an object`);
  const operation = entry['operation'];
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new FieldsFormatError('operation must be `Apply` or `Update`');
  }
  const apiVersion = textOf(entry, 'apiVersion');
  if (apiVersion === '') throw new FieldsFormatError('apiVersion must not be empty');
  checkFieldsType(textOf(entry, 'fieldsType'), index);
  const set = parseFieldsV1(entry['fieldsV1']);
  return {
    manager: textOf(entry, 'manager'),
    operation,
    apiVersion,
    subresource: textOf(entry, 'subresource'),
    time: textOf(entry, 'time') || undefined,
    set,
    entry: (set as unknown) === entry['fieldsV1'] ? entry : undefined,
  };
}

function checkFieldsType(fieldsType: string, index: number): void {
  if (fieldsType === 'FieldsV1') return;
  throw new FieldsFormatError(
    fieldsType === ''
      ? `missing fieldsType in managed fields entry ${index}`
      : `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`,
  );
}

function textOf(entry: JsonObject, field: string): string {
  const value = entry[field];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new FieldsFormatError(`${field} of a managed fields entry must be a string`);
}

/** The owner with another set; the very same one if the set is the same. */
export function withSet(owner: Owner, set: FieldSet): Owner {
  return set === owner.set ? owner : { ...owner, set, entry: undefined };
}

/** Writes `metadata.managedFields`: in order, without empty entries. */
export function writeOwners(owners: readonly Owner[]): ManagedFieldsEntry[] {
  const kept = owners.filter((owner) => !isEmptySet(owner.set));
  return kept.sort(compareOwners).map((owner) => owner.entry ?? writeOwner(owner));
}

function writeOwner(owner: Owner): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {
    ...(owner.manager === '' ? {} : { manager: owner.manager }),
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    ...(owner.time === undefined ? {} : { time: owner.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: owner.set,
  };
  if (owner.subresource !== '') entry.subresource = owner.subresource;
  return entry;
}

/** Appliers first, then by time, name, version and subresource. */
export function compareOwners(a: Owner, b: Owner): number {
  return (
    compareText(a.operation, b.operation) ||
    secondsOf(a.time) - secondsOf(b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** Seconds since 1970; 0 without a readable time. */
export function secondsOf(time: string | undefined): number {
  if (time === undefined) return 0;
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000);
}
