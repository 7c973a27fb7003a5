import { isIPv4, isIPv6 } from 'node:net';
import { duplicate, type FieldError, invalid, notSupported, required } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { objectAt, textAt, textsAt } from './object-field.ts';

const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export function familyOf(ip: string): string {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}

/**
 * Fills in `ipFamilyPolicy` and `ipFamilies` of a Service that needs addresses, from what it asks for and what it had.
 * `served`: the families for which there are addresses, the usual one first. Returns what is wrong.
 */
export function completeFamilies(
  spec: JsonObject,
  old: JsonObject | undefined,
  served: readonly string[],
): readonly FieldError[] {
  if (textAt(spec, 'type') === 'ExternalName' || (old && isSettledDualStack(spec, old))) return [];
  if (textAt(spec, 'ipFamilyPolicy') === '') spec['ipFamilyPolicy'] = usualPolicy(spec, old);
  const faults = addressErrors(spec);
  if (faults.length > 0) return faults;
  const errors = [...(old ? changeErrors(spec, old) : []), ...singleStackErrors(spec)];
  errors.push(...inferFamilies(spec, served));
  if (errors.length > 0) return errors;
  if (isFree(spec)) {
    completeFree(spec, served);
    return [];
  }
  const unserved = servedErrors(spec, served);
  if (unserved.length === 0) completeServed(spec, served);
  return unserved;
}

function isHeadless(spec: JsonObject): boolean {
  return textAt(spec, 'clusterIP') === 'None';
}

/** A Service that prefers two stacks changes only when its owner wants it to. */
function isSettledDualStack(spec: JsonObject, old: JsonObject): boolean {
  return (
    textAt(spec, 'ipFamilyPolicy') === 'PreferDualStack' &&
    ['', 'PreferDualStack'].includes(textAt(old, 'ipFamilyPolicy')) &&
    textAt(spec, 'type') === textAt(old, 'type') &&
    isSame(spec, old, 'clusterIPs') &&
    isSame(spec, old, 'ipFamilies')
  );
}

export function isSame(spec: JsonObject, old: JsonObject, field: 'clusterIPs' | 'ipFamilies'): boolean {
  return textsAt(spec, field).join() === textsAt(old, field).join();
}

function usualPolicy(spec: JsonObject, old: JsonObject | undefined): string {
  const before = textAt(old, 'ipFamilyPolicy');
  if (before !== '') return before;
  return isFree(spec) ? 'RequireDualStack' : 'SingleStack';
}

/** Neither addresses nor a selector: the owner says where it leads. */
function isFree(spec: JsonObject): boolean {
  return isHeadless(spec) && Object.keys(objectAt(spec, 'selector')).length === 0;
}

/** The rules among the fields themselves. */
function addressErrors(spec: JsonObject): readonly FieldError[] {
  const addresses = textsAt(spec, 'clusterIPs');
  const policy = textAt(spec, 'ipFamilyPolicy');
  const errors = [...pairErrors(spec, addresses), ...familyErrors(textsAt(spec, 'ipFamilies'))];
  if (!policies.includes(policy)) errors.push(notSupported('spec.ipFamilyPolicy', policy, policies));
  const faults = addresses.flatMap((ip, index) => ipErrors(ip, index, addresses));
  errors.push(...faults);
  if (addresses.length > 2)
    errors.push(invalid('spec.clusterIPs', addresses, 'may only hold up to 2 values'));
  return faults.length > 0 ? errors : [...errors, ...matchErrors(spec, addresses)];
}

function pairErrors(spec: JsonObject, addresses: readonly string[]): FieldError[] {
  const single = textAt(spec, 'clusterIP');
  const field = 'spec.clusterIPs';
  if (single === '') {
    if (addresses.length === 0) return [];
    return [invalid(field, addresses, 'must be empty when `clusterIP` is not specified')];
  }
  if (addresses.length === 0) return [required(field)];
  return addresses[0] === single ? [] : [invalid(field, addresses, 'first value must match `clusterIP`')];
}

function familyErrors(given: readonly string[]): FieldError[] {
  return given.flatMap((family, index) => {
    const field = `spec.ipFamilies[${index}]`;
    const errors = families.includes(family) ? [] : [notSupported(field, family, families)];
    return given.indexOf(family) < index ? [...errors, duplicate(field, family)] : errors;
  });
}

function ipErrors(ip: string, index: number, all: readonly string[]): readonly FieldError[] {
  if (index === 0 && ip === 'None') {
    return all.length === 1
      ? []
      : [invalid('spec.clusterIPs', all, "'None' must be the first and only value")];
  }
  if (isIPv4(ip) || isIPv6(ip)) return [];
  const detail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  return [invalid(`spec.clusterIPs[${index}]`, ip, detail)];
}

function matchErrors(spec: JsonObject, addresses: readonly string[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [first, second] = addresses;
  if (first !== undefined && second !== undefined && familyOf(first) === familyOf(second)) {
    const detail = 'may specify no more than one IP for each IP family';
    errors.push(invalid('spec.clusterIPs', addresses, detail));
  }
  if (isHeadless(spec)) return errors;
  for (const [index, family] of textsAt(spec, 'ipFamilies').entries()) {
    const ip = addresses[index];
    if (ip === undefined || familyOf(ip) === family) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    errors.push(invalid(`spec.clusterIPs[${index}]`, ip, detail));
  }
  return errors;
}

function changeErrors(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  if (textAt(spec, 'ipFamilyPolicy') === 'SingleStack') {
    keepFirst(spec, old, 'clusterIPs');
    keepFirst(spec, old, 'ipFamilies');
    return [];
  }
  const errors: FieldError[] = [];
  const words = { clusterIPs: 'cluster IP', ipFamilies: 'IP family' } as const;
  for (const field of ['clusterIPs', 'ipFamilies'] as const) {
    const count = textsAt(spec, field).length;
    if (count === 0 || count >= textsAt(old, field).length) continue;
    const detail = `must be 'SingleStack' to release the secondary ${words[field]}`;
    errors.push(invalid('spec.ipFamilyPolicy', textAt(spec, 'ipFamilyPolicy'), detail));
  }
  return errors;
}

/** One stack is wanted and the fields are as they were: what belonged to the other goes. */
function keepFirst(spec: JsonObject, old: JsonObject, field: 'clusterIPs' | 'ipFamilies'): void {
  const values = textsAt(spec, field);
  if (values.length > 1 && isSame(spec, old, field)) spec[field] = values.slice(0, 1);
}

function singleStackErrors(spec: JsonObject): readonly FieldError[] {
  if (textAt(spec, 'ipFamilyPolicy') !== 'SingleStack') return [];
  const words = { clusterIPs: 'cluster IPs', ipFamilies: 'IP families' } as const;
  return (['clusterIPs', 'ipFamilies'] as const)
    .filter((field) => textsAt(spec, field).length === 2)
    .map((field) => {
      const detail = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${words[field]} are specified`;
      return invalid('spec.ipFamilyPolicy', 'SingleStack', detail);
    });
}

/** Families follow from addresses that were asked for. */
function inferFamilies(spec: JsonObject, served: readonly string[]): readonly FieldError[] {
  const addresses = textsAt(spec, 'clusterIPs');
  const known = [...textsAt(spec, 'ipFamilies')];
  const errors: FieldError[] = [];
  for (const [index, ip] of addresses.entries()) {
    if (ip === 'None') break;
    if (index < known.length) continue;
    const family = familyOf(ip);
    if (served.includes(family)) known.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.push(invalid(`spec.clusterIPs[${index}]`, addresses, detail));
    }
  }
  if (known.length > 0) spec['ipFamilies'] = known;
  return errors;
}

/** Without addresses and without a selector every family is possible. */
function completeFree(spec: JsonObject, served: readonly string[]): void {
  const known = textsAt(spec, 'ipFamilies');
  const first = known[0] ?? served[0] ?? 'IPv4';
  const wantsBoth = textAt(spec, 'ipFamilyPolicy') !== 'SingleStack';
  spec['ipFamilies'] = wantsBoth ? [first, otherFamily(first)] : [first];
}

function otherFamily(family: string): string {
  return family === 'IPv4' ? 'IPv6' : 'IPv4';
}

function servedErrors(spec: JsonObject, served: readonly string[]): readonly FieldError[] {
  const policy = textAt(spec, 'ipFamilyPolicy');
  const errors: FieldError[] = [];
  if (policy === 'RequireDualStack' && served.length < 2) {
    const detail = 'this cluster is not configured for dual-stack services';
    errors.push(invalid('spec.ipFamilyPolicy', policy, detail));
  }
  for (const [index, family] of textsAt(spec, 'ipFamilies').entries()) {
    if (!served.includes(family))
      errors.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  }
  return errors;
}

function completeServed(spec: JsonObject, served: readonly string[]): void {
  const known = textsAt(spec, 'ipFamilies');
  const first = known[0] ?? served[0] ?? 'IPv4';
  const wantsBoth = textAt(spec, 'ipFamilyPolicy') !== 'SingleStack' && served.length > 1;
  if (known.length === 0 || (wantsBoth && known.length === 1))
    spec['ipFamilies'] = wantsBoth ? [first, otherFamily(first)] : [first];
}
