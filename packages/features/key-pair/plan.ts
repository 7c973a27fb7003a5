import { withHarvesterCondition } from '@sheaf/api/virtualization/harvester-conditions';
import type { Condition, KeyPair } from '@sheaf/api/virtualization/index';
import { PublicKeyProblem, readPublicKey } from './public-key.ts';

/** The key pair with its fingerprint and whether its key is one; the very same object if that stands there. */
export function planKeyPair(keyPair: KeyPair, now: string): KeyPair {
  const { status = {} } = keyPair;
  const { condition, fingerPrint } = looked(keyPair.spec.publicKey);
  const conditions = withHarvesterCondition(status.conditions ?? [], condition, now);
  if (conditions === status.conditions && fingerPrint === (status.fingerPrint ?? '')) return keyPair;
  return { ...keyPair, status: { ...status, conditions, fingerPrint } };
}

/** Keys from before they were checked may be none. */
function looked(publicKey: string): { readonly condition: Condition; readonly fingerPrint: string } {
  try {
    const { fingerPrint } = readPublicKey(publicKey);
    return { condition: { type: 'validated', status: 'True', reason: '', message: '' }, fingerPrint };
  } catch (error) {
    if (!(error instanceof PublicKeyProblem)) throw error;
    const message = `${error.message}; ${error.wayOut}`;
    return { condition: { type: 'validated', status: 'False', reason: 'Error', message }, fingerPrint: '' };
  }
}
