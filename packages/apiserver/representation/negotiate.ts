import type { Clock } from '@sheaf/base';
import { StatusError } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import { jsonFormat, prettyJsonFormat, protobufFormat, yamlFormat } from './formats.ts';
import { type MediaRange, parseAccept } from './media-types.ts';
import { metadataRepresentation } from './metadata-representation.ts';
import { objectRepresentation } from './object-representation.ts';
import type { Format, Representation } from './representation.ts';
import { type IncludeObject, tableRepresentation } from './table-representation.ts';

export interface NegotiationInput {
  readonly accept: string | undefined;
  readonly userAgent: string | undefined;
  readonly query: URLSearchParams;
  readonly clock: Clock;
  /** True for lists and watches. */
  readonly isCollection?: boolean;
}

/** The form in which `resource` answers this request. @throws StatusError 406, 400 (bad includeObject) */
export function negotiate(resource: Resource, input: NegotiationInput): Representation {
  if (plainAccepts.has(input.accept) && !wantsPretty(input)) return plainRepresentation(resource);
  for (const range of parseAccept(input.accept)) {
    const found = representationFor(resource, range, input);
    if (found) return found;
  }
  throw unacceptable(resource, input);
}

const knownTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const streamTypes = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';

/** A type that no kind has is refused in other words than a form of a known type. */
function unacceptable(resource: Resource, input: NegotiationInput): StatusError {
  const isKnown = parseAccept(input.accept).some(({ type }) => formatOf(type, input) !== undefined);
  if (isKnown || !resource.isBuiltin) return notAcceptable(knownTypes);
  return noRepresentation(input.isCollection ? `${knownTypes}, ${streamTypes}` : knownTypes);
}

/** For a watch: only what can be framed. @throws StatusError 406 */
export function watchable(representation: Representation): Representation {
  if (representation.contentType === yamlFormat.contentType) throw notAcceptable(streamTypes);
  return representation;
}

/** The format for documents that are no resources. @throws StatusError 406 */
export function negotiateDocument(input: Pick<NegotiationInput, 'accept' | 'userAgent' | 'query'>): Format {
  for (const { type, parameters } of parseAccept(input.accept)) {
    const format = parameters.has('as') ? undefined : formatOf(type, input);
    if (format) return format;
  }
  throw noRepresentation(knownTypes);
}

function noRepresentation(available: string): StatusError {
  return new StatusError({
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${available}`,
    details: {},
  });
}

/** The commonest wish: the object as JSON. */
const plainAccepts = new Set<string | undefined>([
  undefined,
  '*/*',
  'application/json',
  'application/json, */*',
]);
const plainRepresentations = new WeakMap<Resource, Representation>();

function plainRepresentation(resource: Resource): Representation {
  let plain = plainRepresentations.get(resource);
  if (!plain) plainRepresentations.set(resource, (plain = objectRepresentation(resource, jsonFormat)));
  return plain;
}

/** The format for answers that have no resource: Status, discovery of errors, review objects. */
export function negotiateFormat(
  input: Pick<NegotiationInput, 'accept' | 'userAgent' | 'query'>,
  hasProtobuf: boolean,
): Format {
  for (const range of parseAccept(input.accept)) {
    const format = formatOf(range.type, input);
    if (format && (hasProtobuf || format.name !== 'protobuf')) return format;
  }
  return wantsPretty(input) ? prettyJsonFormat : jsonFormat;
}

export function notAcceptable(available: string): StatusError {
  return new StatusError({
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${available}`,
  });
}

function representationFor(
  resource: Resource,
  range: MediaRange,
  input: NegotiationInput,
): Representation | undefined {
  const format = formatOf(range.type, input);
  if (!format) return undefined;
  const shape = range.parameters.get('as');
  if (shape === undefined) {
    if (format.name === 'protobuf' && !resource.isBuiltin) return undefined;
    return objectRepresentation(resource, format);
  }
  return transformed(resource, format, { shape, range, input });
}

interface Transformation {
  readonly shape: string;
  readonly range: MediaRange;
  readonly input: NegotiationInput;
}

function transformed(
  resource: Resource,
  format: Format,
  { shape, range, input }: Transformation,
): Representation | undefined {
  const metaVersion = range.parameters.get('v') ?? '';
  if (range.parameters.get('g') !== 'meta.k8s.io' || (metaVersion !== 'v1' && metaVersion !== 'v1beta1'))
    return undefined;
  if (shape === 'PartialObjectMetadata' || shape === 'PartialObjectMetadataList')
    return metadataRepresentation(metaVersion, format);
  if (shape !== 'Table' || format.name === 'protobuf') return undefined;
  return tableRepresentation(resource, format, {
    metaVersion,
    include: includeObject(input.query),
    clock: input.clock,
  });
}

function includeObject(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw new StatusError({
    reason: 'BadRequest',
    message: `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  });
}

function formatOf(type: string, input: Pick<NegotiationInput, 'userAgent' | 'query'>): Format | undefined {
  switch (type) {
    case '*/*':
    case 'application/*':
    case 'application/json':
      return wantsPretty(input) ? prettyJsonFormat : jsonFormat;
    case 'application/yaml':
      return yamlFormat;
    case 'application/vnd.kubernetes.protobuf':
      return protobufFormat;
    default:
      return undefined;
  }
}

function wantsPretty(input: Pick<NegotiationInput, 'userAgent' | 'query'>): boolean {
  const pretty = input.query.get('pretty');
  if (pretty !== null) return pretty !== '0' && pretty.toLowerCase() !== 'false';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(input.userAgent ?? '');
}
