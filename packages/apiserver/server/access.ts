import type { Clock, StatusError } from '@sheaf/base';
import {
  AuthenticationChain,
  BootstrapTokens,
  bearerTokenAuthenticator,
  CertificateTrust,
  clientCertificateAuthenticator,
  frontProxyAuthenticator,
  resolveImpersonation,
  ServiceAccountTokens,
  type SigningKeys,
  type TokenAuthenticator,
  wantsImpersonation,
} from '../authentication/index.ts';
import {
  type Authorizer,
  alwaysAllowPaths,
  authorizerUnion,
  forbidden,
  NodeAuthorizer,
  NodeGraph,
  privilegedGroupAuthorizer,
  RbacAuthorizer,
} from '../authorization/index.ts';
import type { ApiServerParts } from '../pipeline/api-server.ts';
import { attributesOf } from '../pipeline/authorization-attributes.ts';
import type { RequestContext } from '../pipeline/request-context.ts';
import type { LiveViews } from '../storage/live-view.ts';

export interface AccessOptions {
  readonly clock: Clock;
  readonly views: LiveViews;
  /** PEM. */
  readonly clientAuthority: string;
  readonly frontProxyAuthority: string;
  readonly signingKeys: SigningKeys;
  /** The first is written into new tokens. */
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly furtherTokens?: readonly TokenAuthenticator[];
  readonly furtherAuthorizers?: readonly Authorizer[];
}

/** Who a request comes from and what it may do. */
export interface Access extends Pick<ApiServerParts, 'authenticate' | 'impersonate' | 'forbidden'> {
  readonly authorizer: Authorizer;
  readonly rbac: RbacAuthorizer;
  readonly tokens: readonly TokenAuthenticator[];
}

export function openAccess(options: AccessOptions): Access {
  const { clock, views } = options;
  const tokens = [
    new ServiceAccountTokens({
      issuers: options.issuers,
      audiences: options.audiences,
      keys: options.signingKeys,
      views,
      clock,
    }),
    new BootstrapTokens(views, clock),
    ...(options.furtherTokens ?? []),
  ];
  const chain = new AuthenticationChain({
    authenticators: [
      frontProxyAuthenticator({
        trust: new CertificateTrust([options.frontProxyAuthority], clock),
        allowedNames: [],
      }),
      clientCertificateAuthenticator(new CertificateTrust([options.clientAuthority], clock)),
      bearerTokenAuthenticator(tokens),
    ],
    allowAnonymous: true,
  });
  const rbac = new RbacAuthorizer(views);
  const node = new NodeAuthorizer(new NodeGraph(views));
  const authorizer = authorizerUnion([
    privilegedGroupAuthorizer,
    alwaysAllowPaths(),
    node,
    ...(options.furtherAuthorizers ?? []),
    rbac,
  ]);
  return {
    rbac,
    tokens,
    authorizer,
    authenticate: (credentials, signal) => chain.authenticate(credentials, signal),
    impersonate: (context) => impersonatedUser(context, authorizer),
    forbidden: (attributes, reason): StatusError => forbidden(attributes, reason),
  };
}

async function impersonatedUser(
  context: RequestContext,
  authorizer: Authorizer,
): ReturnType<ApiServerParts['impersonate']> {
  const { headers, signal } = context.request;
  if (!wantsImpersonation(headers)) return undefined;
  const found = await resolveImpersonation({
    attributes: attributesOf(context),
    headers,
    authorizer,
    signal,
  });
  return found?.user;
}
