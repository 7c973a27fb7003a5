import { X509Certificate } from 'node:crypto';
import { type Condition, findCondition, type KubeObject } from '@sheaf/api';

/** What is written inside a request: the parts by which a kubelet is recognized. */
export interface RequestContent {
  readonly subject: { readonly commonName: string; readonly organizations: readonly string[] };
  readonly names: {
    readonly dnsNames: readonly string[];
    readonly addresses: readonly string[];
    readonly emails: readonly string[];
    readonly uris: readonly string[];
  };
}

export interface RequestSpec {
  /** Base64 of PEM. */
  readonly request?: string;
  readonly signerName?: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface RequestCondition extends Condition {
  readonly lastUpdateTime?: string;
}

export interface SigningRequestObject extends KubeObject {
  readonly spec?: RequestSpec;
  readonly status?: {
    readonly conditions?: readonly RequestCondition[];
    /** Base64 of PEM. */
    readonly certificate?: string;
  };
}

/** A permission that makes its holder's request approved without a person. */
export type ApprovingSubresource = 'selfnodeclient' | 'nodeclient';

export type RequestStep =
  | { readonly action: 'delete' }
  | { readonly action: 'sign' }
  /** Approve it if its requester may create one of these. */
  | { readonly action: 'review'; readonly subresources: readonly ApprovingSubresource[] }
  | { readonly action: 'keep' };

const hourMs = 3600_000;
const answeredMs = hourMs;
const openMs = 24 * hourMs;
const kubeletSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const builtInSigners: ReadonlySet<string> = new Set([
  'kubernetes.io/kube-apiserver-client',
  kubeletSigner,
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/legacy-unknown',
]);

export const approvalMessages: Readonly<Record<ApprovingSubresource, string>> = {
  selfnodeclient: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  nodeclient: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/** `readContent`: the parsed request, `undefined` if it is none. */
export function planRequest(
  request: SigningRequestObject,
  readContent: (pem: string) => RequestContent | undefined,
  nowMs: number,
): RequestStep {
  if (request.metadata.deletionTimestamp !== undefined) return { action: 'keep' };
  if (nowMs > keptUntil(request)) return { action: 'delete' };
  if (request.status?.certificate || isTrue(request, 'Denied')) return { action: 'keep' };
  if (isTrue(request, 'Approved')) return { action: isOurs(request) ? 'sign' : 'keep' };
  const subresources = approvingSubresources(request, readContent);
  return subresources.length === 0 ? { action: 'keep' } : { action: 'review', subresources };
}

/** True for requests that this controller signs and has not failed to. */
function isOurs(request: SigningRequestObject): boolean {
  return builtInSigners.has(request.spec?.signerName ?? '') && !isTrue(request, 'Failed');
}

/** The last moment of its life, in milliseconds since 1970. */
export function keptUntil(request: SigningRequestObject): number {
  const conditions = request.status?.conditions ?? [];
  const certificate = request.status?.certificate;
  const limits = conditions.map(
    ({ type, lastUpdateTime = '' }) =>
      Date.parse(lastUpdateTime) + (type === 'Approved' && !certificate ? openMs : answeredMs),
  );
  if (limits.length === 0) limits.push(Date.parse(request.metadata.creationTimestamp ?? '') + openMs);
  if (certificate) limits.push(validUntil(decode(certificate)));
  return Math.min(...limits.filter((limit) => !Number.isNaN(limit)));
}

/** The text inside a field of bytes. */
export function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

export function withCertificate(request: SigningRequestObject, certificatePem: string): SigningRequestObject {
  const certificate = Buffer.from(certificatePem).toString('base64');
  return { ...request, status: { ...request.status, certificate } };
}

export function withFailure(
  request: SigningRequestObject,
  message: string,
  now: string,
): SigningRequestObject {
  return withNewCondition(request, { type: 'Failed', reason: 'SignerValidationFailure', message }, now);
}

export function withApproval(
  request: SigningRequestObject,
  subresource: ApprovingSubresource,
  now: string,
): SigningRequestObject {
  const message = approvalMessages[subresource];
  return withNewCondition(request, { type: 'Approved', reason: 'AutoApproved', message }, now);
}

function withNewCondition(
  request: SigningRequestObject,
  claim: Pick<Condition, 'type' | 'reason' | 'message'>,
  now: string,
): SigningRequestObject {
  const condition = { ...claim, status: 'True', lastUpdateTime: now, lastTransitionTime: now } as const;
  const conditions = [...(request.status?.conditions ?? []), condition];
  return { ...request, status: { ...request.status, conditions } };
}

function isTrue(request: SigningRequestObject, type: string): boolean {
  return findCondition(request.status?.conditions, type) !== undefined;
}

function approvingSubresources(
  { spec = {} }: SigningRequestObject,
  readContent: (pem: string) => RequestContent | undefined,
): readonly ApprovingSubresource[] {
  if (spec.signerName !== kubeletSigner || !areKubeletUsages(spec.usages ?? [])) return [];
  const content = readContent(decode(spec.request ?? ''));
  if (!content || !isKubeletSubject(content)) return [];
  return content.subject.commonName === spec.username ? ['selfnodeclient', 'nodeclient'] : ['nodeclient'];
}

/** Signature and client, with or without key encipherment, which only RSA keys use. */
function areKubeletUsages(usages: readonly string[]): boolean {
  const given = new Set(usages).add('key encipherment');
  return given.size === 3 && given.has('client auth') && given.has('digital signature');
}

function isKubeletSubject({ subject, names }: RequestContent): boolean {
  const { dnsNames, addresses, emails, uris } = names;
  return (
    dnsNames.length + addresses.length + emails.length + uris.length === 0 &&
    subject.organizations.length === 1 &&
    subject.organizations[0] === 'system:nodes' &&
    subject.commonName.startsWith('system:node:')
  );
}

/** Not a number where the text is no certificate. */
function validUntil(certificatePem: string): number {
  try {
    return new X509Certificate(certificatePem).validToDate.getTime();
  } catch {
    return Number.NaN;
  }
}
