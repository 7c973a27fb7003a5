import type { TypeSchema } from '@sheaf/api';
import { parseApiVersion } from '@sheaf/api';
import {
  badRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownField,
  StatusError,
} from '@sheaf/base';
import { findTypeProblems, type TypeProblem } from './validate-applied.ts';

interface AppliedConfiguration {
  readonly applied: JsonObject;
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: TypeSchema;
}

/** Refuses a configuration that is not of the request's kind, speaks of managedFields or does not fit the schema. */
export function checkApplied(configuration: AppliedConfiguration): void {
  const { applied, apiVersion, kind, schema } = configuration;
  const metadata = ownField(applied, 'metadata');
  const type = { apiVersion: textOf(applied, 'apiVersion'), kind: textOf(applied, 'kind') };
  if (type.apiVersion !== apiVersion || type.kind !== kind) {
    throw badRequest(`invalid object type: ${printType(type.apiVersion, type.kind)}`);
  }
  if (isJsonObject(metadata) && (metadata['managedFields'] ?? null) !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const problems = findTypeProblems(applied, schema);
  if (problems.length > 0) throw typeError(describe(configuration, metadata), problems);
}

function describe(configuration: AppliedConfiguration, metadata: JsonValue | undefined): string {
  const names = isJsonObject(metadata) ? metadata : {};
  const { apiVersion, kind } = configuration;
  return `${textOf(names, 'namespace')}/${textOf(names, 'name')}; ${printType(apiVersion, kind)}`;
}

function typeError(subject: string, problems: readonly TypeProblem[]): StatusError {
  const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const listed = texts.length === 1 ? texts[0] : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
  const message = `failed to create typed patch object (${subject}): ${listed}`;
  const isDuplicate = problems.every((problem) => problem.isDuplicate);
  return new StatusError({ reason: isDuplicate ? 'Invalid' : 'BadRequest', message });
}

function textOf(object: JsonObject, field: string): string {
  const value = ownField(object, field);
  return typeof value === 'string' ? value : '';
}

/** `apps/v1, Kind=Deployment`, `/v1, Kind=Pod` */
function printType(apiVersion: string, kind: string): string {
  const { group, version } = parseApiVersion(apiVersion);
  return `${group}/${version}, Kind=${kind}`;
}
