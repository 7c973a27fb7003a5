import { hash, X509Certificate } from 'node:crypto';
import type { Clock } from '@sheaf/base';
import { type DistinguishedName, subjectOfCertificate } from '../certificates/distinguished-name.ts';
import { BoundedCache } from './bounded-cache.ts';

/** A client certificate that one of the authorities signed. */
export interface TrustedCertificate {
  readonly subject: DistinguishedName;
  /** SHA-256 of the DER, hexadecimal. */
  readonly fingerprint: string;
}

interface Verdict {
  readonly trusted: TrustedCertificate | undefined;
  readonly objection: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

const clientAuthentication = '1.3.6.1.5.5.7.3.2';
const anyPurpose = '2.5.29.37.0';
const maximumBytes = 64 * 1024;
const cacheSize = 2048;

/**
 * Checks client certificates against authorities: signature, purpose, and time at each use. Certificates must be signed by
 * an authority directly. A certificate is verified once per connection at most, and once in all if it is used often.
 */
export class CertificateTrust {
  readonly #authorities: readonly X509Certificate[];
  readonly #clock: Clock;
  readonly #byIdentity = new WeakMap<Uint8Array, Verdict>();
  readonly #byFingerprint = new BoundedCache<Verdict>(cacheSize);

  /** `authorities`: PEM texts or DER; @throws Error if one cannot be read */
  constructor(authorities: readonly (string | Uint8Array)[], clock: Clock) {
    this.#authorities = authorities.map((authority) => new X509Certificate(authority));
    this.#clock = clock;
  }

  check(certificate: Uint8Array): TrustedCertificate | { readonly objection: string } {
    let verdict = this.#byIdentity.get(certificate);
    if (!verdict) {
      verdict = this.#find(certificate);
      this.#byIdentity.set(certificate, verdict);
    }
    if (!verdict.trusted) return { objection: verdict.objection };
    const now = this.#clock.now();
    if (now < verdict.notBefore) return { objection: 'the client certificate is not valid yet' };
    if (now > verdict.notAfter) return { objection: 'the client certificate has expired' };
    return verdict.trusted;
  }

  #find(certificate: Uint8Array): Verdict {
    const fingerprint = hash('sha256', certificate, 'hex');
    let verdict = this.#byFingerprint.get(fingerprint, 0);
    if (!verdict) {
      verdict = this.#verify(certificate, fingerprint);
      this.#byFingerprint.set(fingerprint, verdict, Number.POSITIVE_INFINITY);
    }
    return verdict;
  }

  #verify(der: Uint8Array, fingerprint: string): Verdict {
    if (der.length > maximumBytes) return refuse('the client certificate is too large');
    try {
      const certificate = new X509Certificate(der);
      const issuer = this.#authorities.find((authority) => isIssuedBy(certificate, authority));
      if (!issuer) return refuse('the client certificate is not signed by a known authority');
      if (!mayAuthenticateClients(certificate)) return refuse('the certificate is not meant for clients');
      return {
        trusted: { subject: subjectOfCertificate(der), fingerprint },
        objection: '',
        notBefore: Math.max(certificate.validFromDate.getTime(), issuer.validFromDate.getTime()),
        notAfter: Math.min(certificate.validToDate.getTime(), issuer.validToDate.getTime()),
      };
    } catch {
      return refuse('the client certificate cannot be read');
    }
  }
}

function refuse(objection: string): Verdict {
  return { trusted: undefined, objection, notBefore: 0, notAfter: 0 };
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** Without an ExtendedKeyUsage every purpose is allowed (RFC 5280). */
function mayAuthenticateClients(certificate: X509Certificate): boolean {
  const purposes = certificate.keyUsage as readonly string[] | undefined;
  return !purposes || purposes.includes(clientAuthentication) || purposes.includes(anyPurpose);
}
