import type { Clock, Random } from '@sheaf/base';
import { issueToken, reviewSelf, reviewToken, type SigningKeys } from '../authentication/index.ts';
import type { ReviewKind } from '../authorization/access-review-rules.ts';
import { reviewAccess, reviewSelfRules } from '../authorization/index.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Access } from '../server/access.ts';
import type { LiveViews } from '../storage/live-view.ts';
import { methodNotAllowed } from '../verbs/errors.ts';
import { timestamp } from '../verbs/write-parts.ts';
import { answerWith, readPosted } from './posted-object.ts';

export interface ReviewOptions {
  readonly access: Access;
  readonly views: LiveViews;
  readonly clock: Clock;
  readonly random: Random;
  readonly signingKeys: SigningKeys;
  readonly issuer: string;
  readonly audiences: readonly string[];
}

const authorizationGroup = 'authorization.k8s.io';
const authenticationGroup = 'authentication.k8s.io';

/** Creates that ask: who am I, what may I do, whose is this token, give me one. */
export function reviewHandlers(options: ReviewOptions): ReadonlyMap<string, SpecialHandler> {
  return new Map([
    [specialKey(authorizationGroup, 'subjectaccessreviews'), accessReview('SubjectAccessReview', options)],
    [
      specialKey(authorizationGroup, 'localsubjectaccessreviews'),
      accessReview('LocalSubjectAccessReview', options),
    ],
    [
      specialKey(authorizationGroup, 'selfsubjectaccessreviews'),
      accessReview('SelfSubjectAccessReview', options),
    ],
    [specialKey(authorizationGroup, 'selfsubjectrulesreviews'), selfRules(options)],
    [specialKey(authenticationGroup, 'tokenreviews'), tokenReview(options)],
    [specialKey(authenticationGroup, 'selfsubjectreviews'), selfReview(options)],
    [specialKey('', 'serviceaccounts', 'token'), tokenRequest(options)],
  ]);
}

function onlyCreate(handler: SpecialHandler): SpecialHandler {
  return (context, resource) => {
    if (context.info.verb !== 'create') throw methodNotAllowed();
    return handler(context, resource);
  };
}

function accessReview(kind: ReviewKind, { access }: ReviewOptions): SpecialHandler {
  return onlyCreate(async (context) => {
    const review = await readPosted(context, { group: authorizationGroup, version: 'v1', kind });
    const { namespace } = context.info;
    const answer = await reviewAccess(kind, review, {
      authorizer: access.authorizer,
      user: context.user,
      namespace,
      signal: context.request.signal,
    });
    return answerWith(context, 201, answer);
  });
}

function selfRules({ access }: ReviewOptions): SpecialHandler {
  return onlyCreate(async (context) => {
    const review = await readPosted(context, {
      group: authorizationGroup,
      version: 'v1',
      kind: 'SelfSubjectRulesReview',
    });
    return answerWith(context, 201, reviewSelfRules(review, context.user, access.rbac));
  });
}

function tokenReview({ access, audiences }: ReviewOptions): SpecialHandler {
  return onlyCreate(async (context) => {
    const review = await readPosted(context, {
      group: authenticationGroup,
      version: 'v1',
      kind: 'TokenReview',
    });
    const answer = await reviewToken(review, {
      authenticators: access.tokens,
      audiences,
      signal: context.request.signal,
    });
    return answerWith(context, 201, answer);
  });
}

function selfReview({ clock }: ReviewOptions): SpecialHandler {
  return onlyCreate(async (context) => {
    const review = await readPosted(context, {
      group: authenticationGroup,
      version: 'v1',
      kind: 'SelfSubjectReview',
    });
    review.metadata.creationTimestamp = timestamp(clock);
    return answerWith(context, 201, reviewSelf(review, context.user));
  });
}

function tokenRequest(options: ReviewOptions): SpecialHandler {
  const { signingKeys: keys, issuer, audiences, views, clock, random } = options;
  return onlyCreate(async (context) => {
    const request = await readPosted(context, {
      group: authenticationGroup,
      version: 'v1',
      kind: 'TokenRequest',
    });
    const account = { namespace: context.info.namespace, name: context.info.name };
    const warn = (text: string): void => context.warnings.add(text);
    return answerWith(
      context,
      201,
      issueToken(account, request, { keys, issuer, audiences, views, clock, random, warn }),
    );
  });
}
