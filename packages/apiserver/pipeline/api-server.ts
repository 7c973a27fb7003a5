import { type Clock, type Logger, type Random, StatusError, toError } from '@sheaf/base';
import { readCredentials } from '../authentication/read-credentials.ts';
import { anonymousUser, type Credentials, type User } from '../authentication/user.ts';
import type { Authorizer } from '../authorization/attributes.ts';
import type { Flow } from '../flow-control/flow-classifier.ts';
import { negotiateFormat } from '../representation/negotiate.ts';
import { unknownResource } from '../verbs/errors.ts';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import { attributesOf } from './authorization-attributes.ts';
import { asStatusError } from './failure.ts';
import type { InFlight } from './in-flight.ts';
import type { PathHandler } from './path-handler.ts';
import { headerOf, type RequestContext, type ResourceContext } from './request-context.ts';
import { type RequestInfo, readRequestInfo } from './request-info.ts';
import { observedBody, type RequestObserver } from './request-observer.ts';
import { requestTimeout } from './request-timeout.ts';
import { bytesResponse, pageNotFound, tooManyRequests } from './responses.ts';
import { Warnings } from './warnings.ts';

export interface ApiServerParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** @throws StatusError 401 */
  readonly authenticate: (credentials: Credentials, signal: AbortSignal) => Promise<User>;
  readonly authorizer: Authorizer;
  /** The user to act as, by the Impersonate- headers; `undefined` when there are none. @throws StatusError 403 */
  readonly impersonate: (context: RequestContext) => Promise<User | undefined>;
  readonly forbidden: (attributes: ReturnType<typeof attributesOf>, reason: string) => StatusError;
  readonly handleResource: (context: ResourceContext) => Promise<ApiResponse>;
  /** Asked in order before a resource request is looked up: aggregated API services. */
  readonly delegates: readonly ((context: RequestContext) => Promise<ApiResponse> | undefined)[];
  readonly paths: readonly PathHandler[];
  /** What answers a path that is not authorized as such: what is behind it asks for itself. */
  readonly findRoute?: (context: RequestContext) => FoundRoute | undefined;
  readonly observer: RequestObserver;
  readonly inFlight: InFlight;
  /** The flow that answers name; without it they name none. */
  readonly flowOf?: (user: User, info: RequestInfo) => Flow | undefined;
}

export interface FoundRoute {
  /** It is not among the short requests, whose number is bounded. */
  readonly isLongRunning: boolean;
  /** It takes tokens of its own, which nobody else knows: the user stays anonymous. */
  readonly hasOwnTokens: boolean;
  answer(): Promise<ApiResponse>;
}

/** Authenticate ▶ impersonate ▶ authorize ▶ handle, and every failure as a Status. */
export class ApiServer {
  readonly #parts: ApiServerParts;

  constructor(parts: ApiServerParts) {
    this.#parts = parts;
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    const auditId = headerOf(request, 'audit-id') ?? this.#parts.random.uuid();
    const query = request.query === '' ? emptyQuery : new URLSearchParams(request.query);
    const warnings = new Warnings();
    const observation = this.#parts.observer.begin({ auditId, request });
    const context: MutableContext = {
      request: observation.request ?? request,
      query,
      warnings,
      user: anonymousUser,
      info: unknownInfo,
      impersonator: undefined,
      flow: undefined,
      annotate: (key, value) => observation.annotate(key, value),
    };
    let response: ApiResponse;
    try {
      response = await this.#answer(context);
    } catch (error) {
      response = this.#failure(context, error);
    }
    finishHeaders(response, auditId, context);
    const stream = observation.end({
      info: context.info,
      query,
      user: context.user,
      impersonator: context.impersonator,
      response,
    });
    return stream ? { ...response, body: observedBody(response.body, stream) } : response;
  }

  async #answer(context: MutableContext): Promise<ApiResponse> {
    const { request } = context;
    requestTimeout(request);
    context.info = readRequestInfo(request.method, request.path, context.query);
    const route = this.#parts.findRoute?.(context);
    if (!route?.hasOwnTokens) await this.#identify(context);
    return this.#inPlace(context, route);
  }

  async #identify(context: MutableContext): Promise<void> {
    const { request } = context;
    context.user = request.trustedUser ?? (await this.#authenticate(request));
    const impersonated = await this.#impersonate(context);
    if (impersonated) {
      context.impersonator = context.user;
      context.user = impersonated;
    }
    // The server's own controllers do not read it.
    if (!request.trustedUser) context.flow = this.#parts.flowOf?.(context.user, context.info);
  }

  async #inPlace(context: RequestContext, route: FoundRoute | undefined): Promise<ApiResponse> {
    const { inFlight } = this.#parts;
    const kind = route?.isLongRunning ? undefined : inFlight.kindOf(context);
    if (kind && !inFlight.tryEnter(kind)) return tooManyRequests();
    try {
      if (route) return await route.answer();
      await this.#authorize(context);
      return await this.#dispatch(context);
    } finally {
      if (kind) inFlight.leave(kind);
    }
  }

  #authenticate(request: ApiRequest): Promise<User> {
    const credentials = readCredentials(request.headers, request.clientCertificate);
    // Only tokens may have to be asked about elsewhere; a signal that nobody needs is not made.
    const signal = credentials.bearerToken === undefined ? neverAborted : request.signal;
    return this.#parts.authenticate(credentials, signal);
  }

  async #impersonate(context: RequestContext): Promise<User | undefined> {
    try {
      return await this.#parts.impersonate(context);
    } catch (error) {
      throw StatusError.is(error) ? refusal(error) : error;
    }
  }

  async #authorize(context: RequestContext): Promise<void> {
    const attributes = attributesOf(context);
    const pending = this.#parts.authorizer.authorize(attributes);
    const decision = pending instanceof Promise ? await pending : pending;
    const isAllowed = decision.decision === 'allow';
    context.annotate('authorization.k8s.io/decision', isAllowed ? 'allow' : 'forbid');
    context.annotate('authorization.k8s.io/reason', decision.reason);
    if (!isAllowed) throw refusal(this.#parts.forbidden(attributes, decision.reason));
  }

  async #dispatch(context: RequestContext): Promise<ApiResponse> {
    for (const delegate of this.#parts.delegates) {
      const delegated = delegate(context);
      if (delegated) return delegated;
    }
    if (isAboutResource(context)) return this.#parts.handleResource(context);
    for (const path of this.#parts.paths) {
      const answered = path(context as Parameters<PathHandler>[0]);
      if (answered) return answered;
    }
    return pageNotFound();
  }

  #failure(context: RequestContext, thrown: unknown): ApiResponse {
    const error = asStatusError(thrown);
    if (error.code >= 500)
      this.#parts.logger.error('request failed', {
        method: context.request.method,
        path: context.request.path,
        cause: toError(thrown),
      });
    const format = negotiateFormat(negotiationOf(context.request, context.query), true);
    const response = bytesResponse(error.code, format.contentType, format.encode(error.toStatus()));
    const retryAfter = error.details?.retryAfterSeconds;
    if (retryAfter !== undefined) response.headers['retry-after'] = String(retryAfter);
    if (refusals.has(error)) response.headers['x-content-type-options'] = 'nosniff';
    return response;
  }
}

/** Errors by which access was refused; their answers name what a client has sent, and browsers are not to guess their type. */
const refusals = new WeakSet<StatusError>();

function refusal(error: StatusError): StatusError {
  refusals.add(error);
  return error;
}

const neverAborted = new AbortController().signal;

/** Shared by requests without a query; handlers only read. */
const emptyQuery = new URLSearchParams();

interface MutableContext extends RequestContext {
  info: RequestInfo;
  user: User;
  impersonator: User | undefined;
  flow: Flow | undefined;
}

const unknownInfo: RequestInfo = { isResource: false, verb: '', path: '' };

function isAboutResource(context: RequestContext): context is ResourceContext {
  if (!context.info.isResource) return false;
  if (context.info.resource === '') throw unknownResource();
  return true;
}

function negotiationOf(request: ApiRequest, query: URLSearchParams): Parameters<typeof negotiateFormat>[0] {
  return { accept: headerOf(request, 'accept'), userAgent: headerOf(request, 'user-agent'), query };
}

function finishHeaders(
  response: ApiResponse,
  auditId: string,
  { warnings, flow }: Pick<MutableContext, 'warnings' | 'flow'>,
): void {
  response.headers['audit-id'] = auditId;
  response.headers['cache-control'] ??= 'no-cache, private';
  if (flow) {
    response.headers['x-kubernetes-pf-flowschema-uid'] = flow.schemaUid;
    response.headers['x-kubernetes-pf-prioritylevel-uid'] = flow.levelUid;
  }
  const texts = warnings.headers();
  if (texts.length > 0) response.headers['warning'] = [...texts];
}
