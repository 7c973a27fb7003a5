import { type AdmissionRule, type AdmissionVerdict, allow, deny } from '@sheaf/api';
import type { KeyPair } from '@sheaf/api/virtualization/index';
import { PublicKeyProblem, readPublicKey } from './public-key.ts';

/** A key pair has a public key that guests take. */
export const keyPairRule: AdmissionRule = {
  name: 'key-pair',
  targets: [{ group: 'harvesterhci.io', resource: 'keypairs' }],
  operations: ['CREATE', 'UPDATE'],
  validate: (object, old) => verdict(object as KeyPair | undefined, old as KeyPair | undefined),
};

function verdict(keyPair: KeyPair | undefined, old: KeyPair | undefined): AdmissionVerdict {
  // What stands there already can still be labelled, given a status, and taken away.
  if (!keyPair || keyPair.spec.publicKey === old?.spec.publicKey) return allow();
  try {
    readPublicKey(keyPair.spec.publicKey);
    return allow();
  } catch (error) {
    if (!(error instanceof PublicKeyProblem)) throw error;
    const { message, wayOut } = error;
    const cause = { reason: 'FieldValueInvalid', field: 'spec.publicKey', message };
    return deny({ reason: 'Invalid', message: `spec.publicKey: ${message}`, wayOut, causes: [cause] });
  }
}
