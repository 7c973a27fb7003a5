import {
  type DerElement,
  der,
  derOid,
  derSequence,
  derTag,
  elementAt,
  readDer,
  readOid,
  readText,
} from './der.ts';

/** The parts of a subject that Kubernetes gives a meaning: CN is the user, O the groups, the UID OID the uid. */
export interface DistinguishedName {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly uid?: string;
}

const commonNameOid = '2.5.4.3';
const organizationOid = '2.5.4.10';
/** The user's uid in a client certificate (Kubernetes 1.33 and later). */
const kubernetesUidOid = '1.3.6.1.4.1.57683.2';

/** DER of the name: each organization and then the common name as one RDN of its own. */
export function encodeName(name: DistinguishedName): Buffer {
  const parts = name.organizations.map((organization) => encodeAttribute(organizationOid, organization));
  parts.push(encodeAttribute(commonNameOid, name.commonName));
  if (name.uid !== undefined) parts.push(encodeAttribute(kubernetesUidOid, name.uid));
  return derSequence(...parts);
}

function encodeAttribute(oid: string, value: string): Buffer {
  const tag = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? derTag.printableString : derTag.utf8String;
  return der(derTag.set, derSequence(derOid(oid), der(tag, Buffer.from(value))));
}

/** Reads a Name. Of several common names the last one counts. @throws Error on malformed DER */
export function decodeName(name: DerElement): DistinguishedName {
  let commonName = '';
  let uid: string | undefined;
  const organizations: string[] = [];
  for (const attribute of attributesOf(name)) {
    if (attribute.oid === commonNameOid) commonName = attribute.text();
    else if (attribute.oid === organizationOid) organizations.push(attribute.text());
    else if (attribute.oid === kubernetesUidOid) uid = attribute.text();
  }
  return uid === undefined ? { commonName, organizations } : { commonName, organizations, uid };
}

interface Attribute {
  readonly oid: string;
  text(): string;
}

function* attributesOf(name: DerElement): Generator<Attribute> {
  for (const set of readDer(name.content)) {
    for (const pair of readDer(set.content)) {
      const parts = readDer(pair.content);
      const oid = readOid(elementAt(parts, 0, derTag.oid).content);
      yield { oid, text: () => readText(elementAt(parts, 1)) };
    }
  }
}

/**
 * The subject of a certificate, read from its DER. Text renderings of names are ambiguous (a common name may hold line
 * breaks), the DER is not. @throws Error on malformed DER
 */
export function subjectOfCertificate(certificate: Uint8Array): DistinguishedName {
  const [outer] = readDer(certificate);
  if (!outer) throw new Error('the certificate is empty');
  const body = readDer(elementAt(readDer(outer.content), 0, derTag.sequence).content);
  const offset = body[0]?.tag === 0xa0 ? 1 : 0;
  return decodeName(elementAt(body, offset + 4, derTag.sequence));
}
