import { asJson, type FieldError, invalid, invalidObject, type KubeObject } from '@sheaf/api';
import { badRequest, type Clock, isJsonObject, type JsonObject, type Random, StatusError } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import { textOf, textsOf } from './jwt.ts';
import type { ServiceAccountName } from './service-account-user.ts';
import { serviceAccountUserName } from './service-account-user.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface TokenIssuerOptions {
  readonly issuer: string;
  /** Default audiences. */
  readonly audiences: readonly string[];
  readonly keys: SigningKeys;
  readonly views: LiveViews;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest life that is given, in seconds; no limit if absent. */
  readonly maximumSeconds?: number;
  /** Adds a `Warning` header. */
  warn?(text: string): void;
}

interface BoundObject {
  readonly claims: JsonObject;
  readonly uid: string;
  readonly kind: string;
}

const group = 'authentication.k8s.io';
const defaultSeconds = 3600;
const minimumSeconds = 600;

/**
 * Answers a create of `serviceaccounts/<name>/token`: the TokenRequest with its defaults and `status`.
 * @throws StatusError 404 for a missing account or bound object, 409 for another uid, 422 for a bad duration
 */
export function issueToken(
  account: ServiceAccountName,
  request: KubeObject,
  options: TokenIssuerOptions,
): KubeObject {
  checkNames(account, request);
  const object = find(options.views, { resource: 'serviceaccounts', ...account });
  const uid = object.metadata.uid ?? '';
  const { uid: wantedUid } = request.metadata;
  if (wantedUid !== undefined && wantedUid !== '' && wantedUid !== uid) {
    const text = `the UID in the token request (${wantedUid}) does not match the UID of the service account (${uid})`;
    throw conflict(account.name, `TokenRequest.${group}`, { group, kind: 'TokenRequest', text });
  }
  const spec = isJsonObject(request['spec']) ? request['spec'] : {};
  checkDuration(spec);
  const seconds = shorten(durationOf(spec), options);
  const audiences = textsOf(spec['audiences']).length > 0 ? textsOf(spec['audiences']) : options.audiences;
  const bound = isJsonObject(spec['boundObjectRef'])
    ? resolveBound(account, spec['boundObjectRef'], options.views)
    : undefined;
  const now = options.clock.now();
  const issuedAt = Math.floor(now / 1000);
  const token = options.keys.sign({
    aud: [...audiences],
    exp: issuedAt + seconds,
    iat: issuedAt,
    iss: options.issuer,
    jti: options.random.uuid(),
    'kubernetes.io': {
      namespace: account.namespace,
      ...bound?.claims,
      serviceaccount: { name: account.name, uid },
    },
    nbf: issuedAt,
    sub: serviceAccountUserName(account),
  });
  return {
    kind: 'TokenRequest',
    apiVersion: `${group}/v1`,
    metadata: {
      ...request.metadata,
      name: account.name,
      namespace: account.namespace,
      uid,
      creationTimestamp: timeText(now),
    },
    spec: { ...spec, audiences: [...audiences], expirationSeconds: seconds },
    status: { token, expirationTimestamp: timeText((issuedAt + seconds) * 1000) },
  };
}

function checkNames(account: ServiceAccountName, request: KubeObject): void {
  const { name, namespace } = request.metadata;
  const errors: FieldError[] = [];
  if (name && name !== account.name) {
    errors.push(invalid('metadata.name', name, 'must match the service account name if specified'));
  } else if (namespace && namespace !== account.namespace) {
    errors.push(
      invalid('metadata.namespace', namespace, 'must match the service account namespace if specified'),
    );
  }
  if (errors.length > 0) throw invalidObject({ kind: 'TokenRequest', group, name: account.name }, errors);
}

function durationOf(spec: JsonObject): number {
  const seconds = spec['expirationSeconds'];
  return typeof seconds === 'number' ? seconds : defaultSeconds;
}

function checkDuration(spec: JsonObject): void {
  const seconds = durationOf(spec);
  const field = 'spec.expirationSeconds';
  const errors: FieldError[] = [];
  if (seconds < minimumSeconds)
    errors.push(invalid(field, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32)
    errors.push(invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  if (errors.length > 0) throw invalidObject({ kind: 'TokenRequest', group, name: '' }, errors);
}

function shorten(seconds: number, options: TokenIssuerOptions): number {
  const { maximumSeconds } = options;
  if (maximumSeconds === undefined || maximumSeconds <= 0 || seconds <= maximumSeconds) return seconds;
  options.warn?.(`requested expiration of ${seconds} seconds shortened to ${maximumSeconds} seconds`);
  return maximumSeconds;
}

function resolveBound(
  account: ServiceAccountName,
  reference: JsonObject,
  views: LiveViews,
): BoundObject | undefined {
  const kind = textOf(reference['kind']);
  const apiVersion = textOf(reference['apiVersion']);
  const bound = lookUpBound(account, { kind, apiVersion, name: textOf(reference['name']) }, views);
  const uid = reference['uid'];
  if (typeof uid === 'string' && uid !== '' && uid !== bound.uid) {
    const text = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict(textOf(reference['name']), kind, { group: '', kind, text });
  }
  return bound;
}

function lookUpBound(
  account: ServiceAccountName,
  reference: { readonly kind: string; readonly apiVersion: string; readonly name: string },
  views: LiveViews,
): BoundObject {
  const { kind, apiVersion, name } = reference;
  const { namespace } = account;
  if (apiVersion === 'v1' && kind === 'Pod')
    return bindPod(account, find(views, { resource: 'pods', namespace, name }), views);
  if (apiVersion === 'v1' && kind === 'Secret')
    return bind('secret', kind, find(views, { resource: 'secrets', namespace, name }));
  if (apiVersion === 'v1' && kind === 'Node')
    return bind('node', kind, find(views, { resource: 'nodes', namespace: '', name }));
  const slash = apiVersion.indexOf('/');
  const version = slash < 0 ? apiVersion : apiVersion.slice(slash + 1);
  throw badRequest(
    `cannot bind token to object of type ${apiVersion.slice(0, Math.max(0, slash))}/${version}, Kind=${kind}`,
  );
}

function bind(claim: string, kind: string, object: KubeObject): BoundObject {
  const uid = object.metadata.uid ?? '';
  return { kind, uid, claims: { [claim]: { name: object.metadata.name ?? '', uid } } };
}

function bindPod(account: ServiceAccountName, pod: KubeObject, views: LiveViews): BoundObject {
  const spec = asJson(pod)['spec'];
  const { serviceAccountName, nodeName } = isJsonObject(spec) ? spec : {};
  if (serviceAccountName !== account.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account.name)} to pod running with different serviceaccount name.`,
    );
  }
  const bound = bind('pod', 'Pod', pod);
  if (typeof nodeName !== 'string' || nodeName === '') return bound;
  const nodeUid = views.of('', 'nodes').get('', nodeName)?.metadata.uid;
  const node = { name: nodeName, ...(nodeUid !== undefined && { uid: nodeUid }) };
  return { ...bound, claims: { node, ...bound.claims } };
}

function find(
  views: LiveViews,
  {
    resource,
    namespace,
    name,
  }: { readonly resource: string; readonly namespace: string; readonly name: string },
): KubeObject {
  const object = views.of('', resource).get(namespace, name);
  if (object) return object;
  throw new StatusError({
    reason: 'NotFound',
    message: `${resource} ${JSON.stringify(name)} not found`,
    details: { name, kind: resource },
  });
}

function conflict(
  name: string,
  subject: string,
  {
    group: detailGroup,
    kind,
    text,
  }: { readonly group: string; readonly kind: string; readonly text: string },
): StatusError {
  return new StatusError({
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${subject} ${JSON.stringify(name)}: ${text}`,
    details: { name, ...(detailGroup && { group: detailGroup }), kind },
  });
}

function timeText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
