import { asObject, invalid, invalidObject, type KubeObject, parseApiVersion, toApiVersion } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, type StatusError } from '@sheaf/base';
import type { FieldValidation } from '../options/write-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import type { Place } from '../storage/resource-store.ts';

export interface Incoming {
  readonly json: JsonObject;
  readonly fieldValidation: FieldValidation;
  readonly duplicateFields: readonly string[];
}

/**
 * A client's JSON as an object of `resource`: kind and apiVersion checked or filled in, shape conformed, unknown and
 * duplicate fields dropped, warned of or refused as the client wants. @throws StatusError 400
 */
export function conformIncoming(
  context: ResourceContext,
  resource: Resource,
  incoming: Incoming,
): KubeObject {
  const identity = identityOf(resource, incoming.json);
  const mismatch = identityFault(resource, incoming.json, identity);
  if (mismatch !== undefined) {
    reportFaults(context, resource, {
      ...incoming,
      unknownFields: unknownFieldsElsewhere(context, resource, incoming),
    });
    throw mismatch;
  }
  const typed = withIdentity(resource, incoming.json, identity);
  const { object, unknownFields } = resource.strategy.conform(asObject(typed));
  reportFaults(context, resource, { ...incoming, unknownFields });
  return object;
}

/** Also in an object that is refused for what it says it is, unknown fields are told. */
function unknownFieldsElsewhere(
  { info }: ResourceContext,
  resource: Resource,
  { json }: Incoming,
): readonly string[] {
  if (info.verb !== 'create' && info.verb !== 'update') return [];
  const { kind, apiVersion } = identityOf(resource, json);
  const gvk = { ...parseApiVersion(apiVersion), kind };
  return resource.strategy.unknownFieldsAs(gvk, { ...json, kind, apiVersion });
}

function reportFaults(
  context: ResourceContext,
  resource: Resource,
  found: Incoming & { unknownFields: readonly string[] },
): void {
  const faults = [...found.unknownFields, ...found.duplicateFields];
  if (faults.length === 0 || found.fieldValidation === 'Ignore') return;
  if (found.fieldValidation === 'Strict') {
    throw cannotBeHandled(resource, `strict decoding error: ${faults.join(', ')}`);
  }
  for (const fault of faults) for (const text of warningsOf(fault)) context.warnings.add(text);
}

const yamlFaults = 'yaml: unmarshal errors:\n';

/** What is wrong with YAML is one sentence in an error, and a warning for each line. */
function warningsOf(fault: string): readonly string[] {
  if (!fault.startsWith(yamlFaults)) return [fault];
  return fault
    .slice(yamlFaults.length)
    .split('\n')
    .map((line) => line.trim());
}

export function cannotBeHandled(resource: Resource, detail: string): Error {
  const { kind, version } = resource;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${detail}`);
}

interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What an object says it is; what it leaves out is that of the resource. */
function identityOf(resource: Resource, json: JsonObject): Identity {
  return {
    apiVersion: textOf(json, 'apiVersion') || toApiVersion(resource.group, resource.version),
    kind: textOf(json, 'kind') || resource.kind,
  };
}

function identityFault(
  resource: Resource,
  json: JsonObject,
  { apiVersion, kind }: Identity,
): StatusError | undefined {
  const expected = toApiVersion(resource.group, resource.version);
  if (apiVersion !== expected)
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  if (kind === resource.kind) return undefined;
  if (!resource.isBuiltin) return kindMismatch(resource, json, kind);
  return badRequest(`the kind in the data (${kind}) does not match the expected kind (${resource.kind})`);
}

function withIdentity(resource: Resource, json: JsonObject, identity: Identity): JsonObject {
  const metadata = json['metadata'] ?? {};
  if (!isJsonObject(metadata)) throw cannotBeHandled(resource, 'metadata must be an object');
  return { ...json, ...identity, metadata };
}

function kindMismatch(resource: Resource, json: JsonObject, kind: string): StatusError {
  const metadata = json['metadata'];
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  const error = invalid('kind', kind, `must be ${resource.kind}`);
  return invalidObject({ kind, group: resource.group, name: typeof name === 'string' ? name : '' }, [error]);
}

function textOf(json: JsonObject, field: string): string {
  const value = json[field];
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw badRequest(`${field} must be a string`);
  return value;
}

/** Namespace and name of the body must be those of the URL, or absent. @throws StatusError 400 */
export function placeInNamespace(context: ResourceContext, resource: Resource, object: KubeObject): void {
  const { metadata } = object;
  const wanted = resource.namespaced ? context.info.namespace : '';
  // A kind without namespaces takes none from its clients.
  const given = resource.namespaced ? (metadata.namespace ?? '') : '';
  if (!resource.namespaced) delete metadata.namespace;
  if (given === '' && wanted !== '') metadata.namespace = wanted;
  else if (given !== wanted) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (metadata.namespace === '') delete metadata.namespace;
}

export function nameMissing(wanted: string): StatusError {
  return badRequest(
    `the name of the object (${wanted} based on URL) was undeterminable: name must be provided`,
  );
}

/** @throws StatusError 400 */
export function checkName(context: ResourceContext, object: KubeObject): void {
  const given = object.metadata.name ?? '';
  if (given === '') throw nameMissing(context.info.name);
  if (given !== context.info.name) {
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${context.info.name})`,
    );
  }
}

/** Where the object of the URL is kept. A Namespace is in no namespace, though its requests are authorized in itself. */
export function requestedPlace(context: ResourceContext, resource: Resource): Place {
  return { namespace: resource.namespaced ? context.info.namespace : '', name: context.info.name };
}
