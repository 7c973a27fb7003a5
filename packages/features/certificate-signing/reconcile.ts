import { timestampOf } from '@sheaf/api';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { again, done, type ReconcileResult, waitFor } from '@sheaf/runtime';
import {
  type ApprovingSubresource,
  decode,
  keptUntil,
  planRequest,
  type RequestContent,
  type RequestSpec,
  type SigningRequestObject,
  withApproval,
  withCertificate,
  withFailure,
} from './plan.ts';

/** What a signer is asked for. */
export interface SigningOrder {
  readonly signerName: string;
  readonly requestPem: string;
  readonly usages: readonly string[];
  readonly expirationSeconds?: number;
}

/** `refused` is a lasting answer. */
export type SigningAnswer = { readonly certificatePem: string } | { readonly refused: string };

export interface CertificateSigningOptions {
  /** Signs as the named built-in signer does. Rejects when it could not even look at the order: it is tried again. */
  readonly sign: (order: SigningOrder) => Promise<SigningAnswer>;
  /** Reads a PEM request; `undefined` if it is none. */
  readonly readContent: (requestPem: string) => RequestContent | undefined;
}

export const signingRequests: ResourceRef<SigningRequestObject> = resources.certificateSigningRequests;

const accessReviews: ResourceRef = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};

/** Permissions are not watched. */
const reviewAgainMs = 30_000;

export class SigningRequestReconciler {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #options: CertificateSigningOptions;

  constructor(
    { client, clock }: { readonly client: Client; readonly clock: Clock },
    options: CertificateSigningOptions,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
  }

  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const request = await this.#client.find(signingRequests, { name }, signal);
    if (!request) return done;
    const step = planRequest(request, this.#options.readContent, this.#clock.now());
    switch (step.action) {
      case 'delete':
        await this.#delete(request, signal);
        return done;
      case 'sign':
        return this.#lookAtItsEnd(await this.#sign(request, signal));
      case 'review':
        return this.#review(request, step.subresources, signal);
      case 'keep':
        return this.#lookAtItsEnd(request);
    }
  }

  #lookAtItsEnd(request: SigningRequestObject): ReconcileResult {
    const untilMs = keptUntil(request);
    // One more, as it is kept to the end of that time.
    return Number.isFinite(untilMs) ? again(Math.max(0, untilMs - this.#clock.now()) + 1) : done;
  }

  async #delete({ metadata }: SigningRequestObject, signal: AbortSignal): Promise<void> {
    const { name = '', uid = '', resourceVersion = '' } = metadata;
    try {
      await this.#client.delete(signingRequests, { name }, { uid, resourceVersion, signal });
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }

  async #sign(request: SigningRequestObject, signal: AbortSignal): Promise<SigningRequestObject> {
    const { spec = {} } = request;
    const answer = await this.#options.sign({
      signerName: spec.signerName ?? '',
      requestPem: decode(spec.request ?? ''),
      usages: spec.usages ?? [],
      ...(spec.expirationSeconds === undefined ? {} : { expirationSeconds: spec.expirationSeconds }),
    });
    const answered =
      'refused' in answer
        ? withFailure(request, answer.refused, timestampOf(this.#clock))
        : withCertificate(request, answer.certificatePem);
    return this.#client.updateStatus(signingRequests, answered, { signal });
  }

  async #review(
    request: SigningRequestObject,
    subresources: readonly ApprovingSubresource[],
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    for (const subresource of subresources) {
      if (!(await this.#mayCreate(request.spec ?? {}, subresource, signal))) continue;
      const approved = withApproval(request, subresource, timestampOf(this.#clock));
      await this.#client.update(signingRequests, approved, { subresource: 'approval', signal });
      return again(0);
    }
    return waitFor('its requester may not have it approved', reviewAgainMs);
  }

  async #mayCreate(
    spec: RequestSpec,
    subresource: ApprovingSubresource,
    signal: AbortSignal,
  ): Promise<boolean> {
    const review = {
      metadata: {},
      spec: {
        user: spec.username ?? '',
        groups: spec.groups ?? [],
        ...(spec.uid ? { uid: spec.uid } : {}),
        ...(spec.extra ? { extra: spec.extra } : {}),
        resourceAttributes: {
          group: 'certificates.k8s.io',
          version: '*',
          resource: 'certificatesigningrequests',
          subresource,
          verb: 'create',
        },
      },
    };
    const { status } = await this.#client.create(accessReviews, review, { signal });
    return (status as { allowed?: boolean } | undefined)?.allowed === true;
  }
}
