import { type FieldError, invalid, invalidObject, notSupported } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { isTrue, readDryRun } from './write-options.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagation: Propagation | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
}

const propagations = ['Foreground', 'Background', 'Orphan'] as const;

/** From the body where there is one, else from the query. @throws StatusError 400, 422 */
export function readDeleteOptions(body: JsonObject | undefined, query: URLSearchParams): DeleteOptions {
  const given = body && Object.keys(body).length > 0 ? body : fromQuery(query);
  checkKind(given);
  const errors: FieldError[] = [];
  const dryRun = readDryRun(stringsOf(given, 'dryRun'), errors);
  const propagation = readPropagation(given, errors);
  if (errors.length > 0)
    throw invalidObject({ kind: 'DeleteOptions', group: 'meta.k8s.io', name: '' }, errors);
  return {
    dryRun,
    propagation,
    gracePeriodSeconds: readGrace(given['gracePeriodSeconds']),
    preconditions: readPreconditions(given['preconditions']),
  };
}

/** Whoever sends an object of another kind has mistaken the endpoint. */
function checkKind({ kind, apiVersion }: JsonObject): void {
  if (kind === undefined || kind === '' || kind === 'DeleteOptions') return;
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  throw badRequest(
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** The options object that admission and webhooks see. */
export function toDeleteOptionsObject(options: DeleteOptions): JsonObject {
  const { preconditions, gracePeriodSeconds, propagation } = options;
  return {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 ? { preconditions: { ...preconditions } } : {}),
    ...(propagation ? { propagationPolicy: propagation } : {}),
    ...(options.dryRun ? { dryRun: ['All'] } : {}),
  };
}

function fromQuery(query: URLSearchParams): JsonObject {
  const options: JsonObject = {};
  if (query.has('dryRun')) options['dryRun'] = query.getAll('dryRun');
  const grace = query.get('gracePeriodSeconds');
  if (grace) options['gracePeriodSeconds'] = readInteger(grace);
  const policy = query.get('propagationPolicy');
  if (policy) options['propagationPolicy'] = policy;
  if (query.has('orphanDependents')) options['orphanDependents'] = isTrue(query.get('orphanDependents'));
  const preconditions: JsonObject = {};
  for (const field of ['uid', 'resourceVersion']) {
    const value = query.get(`preconditions.${field}`);
    if (value) preconditions[field] = value;
  }
  if (Object.keys(preconditions).length > 0) options['preconditions'] = preconditions;
  return options;
}

function readInteger(text: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function readPropagation(given: JsonObject, errors: FieldError[]): Propagation | undefined {
  const policy = given['propagationPolicy'];
  const orphan = given['orphanDependents'];
  const hasOrphan = orphan !== undefined && orphan !== null;
  if (policy === undefined || policy === null || policy === '') {
    return hasOrphan ? (orphan === true ? 'Orphan' : 'Background') : undefined;
  }
  if (hasOrphan) {
    errors.push(
      invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  const known = propagations.find((item) => item === policy);
  if (!known) errors.push(notSupported('propagationPolicy', policy, [...propagations, 'nil']));
  return known;
}

function readGrace(value: JsonValue | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw badRequest('gracePeriodSeconds must be a whole number of seconds');
  return value;
}

function readPreconditions(value: JsonValue | undefined): DeleteOptions['preconditions'] {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw badRequest('preconditions must be an object with uid or resourceVersion');
  const { uid, resourceVersion } = value;
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

function stringsOf(given: JsonObject, field: string): string[] {
  const value = given[field];
  return Array.isArray(value) ? value.map(String) : [];
}
