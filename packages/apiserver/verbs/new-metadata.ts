import type { KubeObject } from '@sheaf/api';
import type { Random } from '@sheaf/base';
import { badRequest } from '@sheaf/base';
import { timestamp, type WriteParts } from './write-parts.ts';

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const nameLimit = 63;

/** Sets what only the server sets and drops what a client may not say of a new object. @throws StatusError 400 */
export function prepareNewMetadata(object: KubeObject, parts: WriteParts): void {
  const { metadata } = object;
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  metadata.uid = parts.random.uuid();
  metadata.creationTimestamp = timestamp(parts.clock);
}

/** A name made from `generateName`: cut so that the whole has at most 63 characters. */
export function generateName(prefix: string, random: Random): string {
  let suffix = '';
  for (let index = 0; index < suffixLength; index++)
    suffix += suffixAlphabet[random.integer(suffixAlphabet.length)];
  return prefix.slice(0, nameLimit - suffixLength) + suffix;
}
