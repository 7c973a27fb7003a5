import { asJson } from '@sheaf/api';
import { jsonEqual, toError } from '@sheaf/base';
import type { Authorizer } from '../authorization/attributes.ts';
import { readSigningRequest } from '../certificates/signing-request.ts';
import { objectAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { isFor, refusal } from './refusal.ts';

const requests = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };
const approval = { ...requests, subresource: 'approval' };
const status = { ...requests, subresource: 'status' };
const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** Requests are approved by those who may approve for their signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: (request) => request.operation === 'UPDATE' && isFor(request, approval),
    async validate(request) {
      const signer = signerOf(request);
      if (!(await maySign(request, { authorizer, verb: 'approve', signer })))
        throw refusal(
          request,
          `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`,
        );
    },
  };
}

/** Certificates are issued by those who may sign for their signer. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: (request) => request.operation === 'UPDATE' && isFor(request, status),
    async validate(request) {
      if (isUnsigned(request)) return;
      const signer = signerOf(request);
      if (!(await maySign(request, { authorizer, verb: 'sign', signer })))
        throw refusal(
          request,
          `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`,
        );
    },
  };
}

/** Nobody becomes a member of `system:masters` by a signed request. */
export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    handles: (request) => request.operation === 'CREATE' && isFor(request, requests),
    validate(request) {
      const spec = objectAt(request.object, 'spec');
      if (textAt(spec, 'signerName') !== clientSigner) return;
      if (!groupsOf(request, textAt(spec, 'request')).includes('system:masters')) return;
      throw refusal(request, `use of ${clientSigner} signer with system:masters group is not allowed`);
    },
  };
}

function groupsOf(request: AdmissionRequest, encoded: string): readonly string[] {
  try {
    return readSigningRequest(Buffer.from(encoded, 'base64').toString('latin1')).subject.organizations;
  } catch (error) {
    throw refusal(request, `failed to parse CSR: ${toError(error).message}`);
  }
}

/** The signer cannot be changed, so the old one decides. */
function signerOf({ oldObject }: AdmissionRequest): string {
  return textAt(objectAt(oldObject, 'spec'), 'signerName');
}

function isUnsigned({ object, oldObject }: AdmissionRequest): boolean {
  if (!object || !oldObject) return true;
  const [next, old] = [objectAt(asJson(object), 'status'), objectAt(asJson(oldObject), 'status')];
  return (
    jsonEqual(next['certificate'], old['certificate']) && jsonEqual(next['conditions'], old['conditions'])
  );
}

interface Question {
  readonly authorizer: Authorizer;
  readonly verb: string;
  readonly signer: string;
}

/** The right may be given for one signer, or for all of a domain. */
async function maySign(request: AdmissionRequest, { authorizer, verb, signer }: Question): Promise<boolean> {
  const { user, signal } = request;
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    const { decision } = await authorizer.authorize(
      {
        isResource: true,
        user,
        verb,
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'signers',
        subresource: '',
        namespace: '',
        name,
      },
      signal,
    );
    if (decision === 'allow') return true;
  }
  return false;
}
