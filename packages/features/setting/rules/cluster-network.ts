import { parseCidr } from '@sheaf/api/kinds/address-checks';
import {
  booleanField,
  integerField,
  jsonObjectOf,
  objectField,
  refuseUnknownFields,
  SettingProblem,
  stringField,
  stringsField,
} from '@sheaf/api/setting/index';
import { isJsonObject, type JsonObject, ownField } from '@sheaf/base';

/** A network that traffic of the cluster itself goes over. */
export interface ClusterNetwork {
  readonly clusterNetwork: string;
  readonly vlan: number;
  readonly exclusiveVlan: boolean;
  readonly range: AddressRange;
  readonly excluded: readonly AddressRange[];
}

/** All addresses from `first` to `last`. */
interface AddressRange {
  readonly text: string;
  readonly first: bigint;
  readonly last: bigint;
}

const largestVlan = 4094;
const smallestPrefix = 16;
/** The network of management has the untagged traffic of the hosts. */
const managementNetwork = 'mgmt';
const fields = ['clusterNetwork', 'vlan', 'exclusiveVlan', 'range', 'exclude'];

/** Of `storage-network` and `vm-migration-network`. @throws SettingProblem */
export function clusterNetwork(text: string): ClusterNetwork {
  return networkOf(jsonObjectOf(text));
}

export interface SharedNetwork {
  /** The network of `storage-network` is used. */
  readonly isShared: boolean;
  readonly network: ClusterNetwork | undefined;
}

/** Of `rwx-network`. @throws SettingProblem */
export function sharedNetwork(text: string): SharedNetwork {
  const object = jsonObjectOf(text);
  refuseUnknownFields(object, ['share-storage-network', 'network']);
  const isShared = booleanField(object, 'share-storage-network');
  const network = objectField(object, 'network');
  if (!isJsonObject(ownField(object, 'network'))) return { isShared, network: undefined };
  refuseUnknownFields(network, fields);
  return { isShared, network: networkOf(network) };
}

function networkOf(object: JsonObject): ClusterNetwork {
  const name = stringField(object, 'clusterNetwork');
  if (name === '')
    throw new SettingProblem('clusterNetwork is missing', 'Name the cluster network, such as mgmt.');
  const vlan = integerField(object, 'vlan');
  const exclusiveVlan = booleanField(object, 'exclusiveVlan');
  checkVlan(name, vlan, exclusiveVlan);
  const range = networkRange(stringField(object, 'range'));
  return { clusterNetwork: name, vlan, exclusiveVlan, range, excluded: exclusions(object, range) };
}

function checkVlan(name: string, vlan: number, isExclusive: boolean): void {
  const least = name === managementNetwork ? 2 : 0;
  if (vlan < least || vlan > largestVlan)
    throw new SettingProblem(
      `vlan is ${vlan}`,
      `Write a number from ${least} to ${largestVlan} for the cluster network ${name}.`,
    );
  if (isExclusive && vlan < 2)
    throw new SettingProblem(
      `exclusiveVlan goes with no vlan ${vlan}, which is shared by its nature`,
      'Choose a vlan of 2 or more, or set exclusiveVlan to false.',
    );
}

function networkRange(text: string): AddressRange {
  const range = rangeOf(text);
  const address = text.slice(0, text.indexOf('/'));
  const length = Number(text.slice(text.indexOf('/') + 1));
  if (!range)
    throw new SettingProblem(
      `range ${JSON.stringify(text)} is no IPv4 network`,
      'Write a network such as 192.168.0.0/24.',
    );
  if (addressText(range.first) !== address)
    throw new SettingProblem(
      `range ${text} is an address within a network`,
      `Write the network itself: ${addressText(range.first)}/${length}.`,
    );
  if (length < smallestPrefix)
    throw new SettingProblem(`range ${text} is too large`, `Use a network of /${smallestPrefix} or smaller.`);
  return range;
}

function exclusions(object: JsonObject, range: AddressRange): readonly AddressRange[] {
  const excluded = stringsField(object, 'exclude').map((text) => exclusion(text, range));
  for (const [index, one] of excluded.entries()) {
    const other = excluded.slice(0, index).find((each) => overlap(one, each));
    if (other)
      throw new SettingProblem(
        `the exclusions ${other.text} and ${one.text} overlap`,
        'Leave the smaller one out.',
      );
  }
  return excluded;
}

function exclusion(text: string, range: AddressRange): AddressRange {
  const excluded = rangeOf(text);
  const isWithin = excluded && excluded.first >= range.first && excluded.last <= range.last;
  if (isWithin && sizeOf(excluded) < sizeOf(range)) return excluded;
  throw new SettingProblem(
    `the exclusion ${JSON.stringify(text)} is no smaller part of ${range.text}`,
    'Write networks inside of range, such as 192.168.0.0/28 of 192.168.0.0/24.',
  );
}

function rangeOf(text: string): AddressRange | undefined {
  const cidr = parseCidr(text);
  if (cidr?.family !== 4) return undefined;
  return { text, first: cidr.bits, last: cidr.bits + (1n << BigInt(32 - cidr.length)) - 1n };
}

function sizeOf({ first, last }: AddressRange): bigint {
  return last - first + 1n;
}

function overlap(one: AddressRange, other: AddressRange): boolean {
  return one.first <= other.last && other.first <= one.last;
}

export function networksOverlap(one: ClusterNetwork, other: ClusterNetwork): boolean {
  return overlap(one.range, other.range);
}

/** How many addresses can be given out: neither the first nor the last of the network, none that is excluded. */
export function usableAddresses({ range, excluded }: ClusterNetwork): number {
  const ends = [range.first, range.last];
  const isExcluded = (address: bigint): boolean =>
    excluded.some(({ first, last }) => first <= address && address <= last);
  const lost = excluded.reduce((sum, each) => sum + sizeOf(each), 0n);
  const kept = ends.filter((address, index) => ends.indexOf(address) === index && !isExcluded(address));
  return Number(sizeOf(range) - lost) - kept.length;
}

function addressText(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
}
