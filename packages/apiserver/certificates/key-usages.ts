import { clientAuthentication, keyUsageBit, serverAuthentication } from './extensions.ts';

/** `spec.usages` words (certificates.k8s.io) that are bits of KeyUsage. */
const usageBits: ReadonlyMap<string, number> = new Map([
  ['signing', keyUsageBit.digitalSignature],
  ['digital signature', keyUsageBit.digitalSignature],
  ['content commitment', keyUsageBit.contentCommitment],
  ['key encipherment', keyUsageBit.keyEncipherment],
  ['key agreement', keyUsageBit.keyAgreement],
  ['data encipherment', keyUsageBit.dataEncipherment],
  ['cert sign', keyUsageBit.keyCertSign],
  ['crl sign', keyUsageBit.crlSign],
  ['encipher only', keyUsageBit.encipherOnly],
  ['decipher only', keyUsageBit.decipherOnly],
]);

/** Words that are purposes in ExtendedKeyUsage. */
const purposeOids: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', serverAuthentication],
  ['client auth', clientAuthentication],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

/** The bits and purposes of a request's usages. @throws Error on a word that is neither */
export function readUsages(usages: readonly string[]): { usageBits: number; purposes: string[] } {
  let bits = 0;
  const purposes = new Set<string>();
  for (const usage of usages) {
    const bit = usageBits.get(usage);
    const purpose = purposeOids.get(usage);
    if (bit === undefined && purpose === undefined)
      throw new Error(`unrecognized usage: ${JSON.stringify(usage)}`);
    bits |= bit ?? 0;
    if (purpose !== undefined) purposes.add(purpose);
  }
  return { usageBits: bits, purposes: [...purposes] };
}
