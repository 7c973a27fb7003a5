import type { Random } from '@sheaf/base';
import { toError } from '@sheaf/base';
import { type Issuer, writeCertificate } from './certificate-writer.ts';
import { readUsages } from './key-usages.ts';
import { toPem } from './pem.ts';
import { readSigningRequest, type SigningRequest } from './signing-request.ts';

export const signerNames = {
  apiClient: 'kubernetes.io/kube-apiserver-client',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const;

export interface SignRequestOptions {
  readonly signerName: string;
  /** `spec.usages` of the CertificateSigningRequest. */
  readonly usages: readonly string[];
  /** `spec.expirationSeconds`; at least 600, at most what the signer gives (one year). */
  readonly expirationSeconds?: number | undefined;
  readonly issuer: Issuer;
  /** Milliseconds since 1970. */
  readonly issuerNotAfter: number;
  readonly now: number;
  readonly random: Random;
}

/** `refused` is a lasting answer: the request gets the condition `Failed`, reason `SignerValidationFailure`. */
export type SignRequestResult = { readonly certificatePem: string } | { readonly refused: string };

const yearMs = 365 * 24 * 3600_000;
const backdateMs = 5 * 60_000;
/** Certificates that live shorter than this get their whole time in spite of the back-dating. */
const shortMs = 8 * 3600_000;
const minimumSeconds = 600;

/** Whether one of the built-in signers answers for that name; others are signed by programs of their own. */
export function isBuiltInSigner(signerName: string): boolean {
  return Object.values<string>(signerNames).includes(signerName);
}

/** Signs an approved request as the named built-in signer does, or says what it has against it. */
export function signRequest(requestPem: string, options: SignRequestOptions): SignRequestResult {
  try {
    const request = readSigningRequest(requestPem);
    const objection = findObjection(request, options);
    if (objection !== undefined) return { refused: objection };
    return { certificatePem: toPem('CERTIFICATE', issue(request, options)) };
  } catch (error) {
    return { refused: toError(error).message };
  }
}

function issue(request: SigningRequest, options: SignRequestOptions): Buffer {
  const seconds = Math.max(minimumSeconds, options.expirationSeconds ?? Number.POSITIVE_INFINITY);
  const lifetimeMs = Math.min(seconds * 1000, yearMs);
  const notAfter = options.now + (lifetimeMs < shortMs ? lifetimeMs : lifetimeMs - backdateMs);
  return writeCertificate(
    {
      subject: request.subject,
      publicKey: request.publicKey,
      names: request.names,
      notBefore: options.now - backdateMs,
      notAfter: Math.min(notAfter, options.issuerNotAfter),
      ...readUsages(options.usages),
    },
    options.issuer,
    options.random,
  );
}

function findObjection(request: SigningRequest, options: SignRequestOptions): string | undefined {
  switch (options.signerName) {
    case signerNames.apiClient:
      return objectToApiClient(request, options.usages);
    case signerNames.kubeletClient:
      return objectToKubeletClient(request) ?? objectToKubeletUsages(options.usages, 'client auth');
    case signerNames.kubeletServing:
      return objectToKubeletServing(request) ?? objectToKubeletUsages(options.usages, 'server auth');
    case signerNames.legacyUnknown:
      return undefined;
    default:
      return `signer ${JSON.stringify(options.signerName)} is not served here`;
  }
}

function objectToApiClient(request: SigningRequest, usages: readonly string[]): string | undefined {
  if (request.subject.organizations.includes('system:masters')) {
    return `use of ${signerNames.apiClient} signer with system:masters group is not allowed`;
  }
  const allowed = ['digital signature', 'key encipherment', 'client auth'];
  const excess = usages.find((usage) => !allowed.includes(usage));
  if (excess !== undefined) return `invalid usage for client certificate: ${excess}`;
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth';
}

/** Exactly signature and purpose, with or without key encipherment (which only RSA keys use). */
function objectToKubeletUsages(usages: readonly string[], purpose: string): string | undefined {
  const wanted = [purpose, 'digital signature', 'key encipherment'].sort();
  const given = new Set(usages).add('key encipherment');
  const isSame = given.size === wanted.length && wanted.every((usage) => given.has(usage));
  return isSame ? undefined : `usages did not match [${wanted.join(' ')}]`;
}

function objectToNodeSubject(request: SigningRequest): string | undefined {
  const { commonName, organizations } = request.subject;
  if (organizations.length !== 1 || organizations[0] !== 'system:nodes') {
    return 'subject organization is not system:nodes';
  }
  if (!commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node:';
  return undefined;
}

function objectToKubeletClient(request: SigningRequest): string | undefined {
  const { dnsNames, addresses, emails, uris } = request.names;
  if (dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  return objectToNodeSubject(request);
}

function objectToKubeletServing(request: SigningRequest): string | undefined {
  const { dnsNames, addresses, emails, uris } = request.names;
  if (dnsNames.length + addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  return objectToNodeSubject(request);
}
