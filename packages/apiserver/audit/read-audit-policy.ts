import { decodeYaml } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, toError } from '@sheaf/base';
import type { AuditLevel, AuditPolicy, AuditResources, AuditRule } from './audit-policy.ts';

/** What is wrong with a policy, and where; for whoever wrote it. */
export class AuditPolicyError extends Error {}

const levels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];
const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];
const policyFields = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const ruleFields = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
];
const resourcesFields = ['group', 'resources', 'resourceNames'];

/** What a rule takes from the policy. */
interface SharedFields {
  readonly omitStages: readonly string[];
  readonly omitManagedFields: boolean;
}

/**
 * Reads an `audit.k8s.io/v1 Policy` in YAML or JSON. A field that is not known is refused: a misspelt rule would log too much or
 * too little, and nobody would notice.
 * @throws AuditPolicyError
 */
export function readAuditPolicy(text: string): AuditPolicy {
  const policy = document(text);
  if (policy['apiVersion'] !== 'audit.k8s.io/v1' || policy['kind'] !== 'Policy')
    throw new AuditPolicyError('apiVersion and kind: must be audit.k8s.io/v1 and Policy');
  refuseUnknown(policy, '', policyFields);
  const { rules } = policy;
  if (!Array.isArray(rules) || rules.length === 0)
    throw new AuditPolicyError('rules: must be a list of at least one rule');
  const shared: SharedFields = {
    omitStages: stagesIn(policy, 'omitStages'),
    omitManagedFields: flagIn(policy, 'omitManagedFields') ?? false,
  };
  return { rules: rules.map((rule, index) => readRule(rule, `rules[${index}]`, shared)) };
}

function document(text: string): JsonObject {
  let value: JsonValue;
  let duplicateFields: readonly string[];
  try {
    ({ value, duplicateFields } = decodeYaml(Buffer.from(text)));
  } catch (error) {
    throw new AuditPolicyError(toError(error).message, { cause: error });
  }
  const [duplicate] = duplicateFields;
  if (duplicate !== undefined) throw new AuditPolicyError(duplicate);
  if (!isJsonObject(value)) throw new AuditPolicyError('it is not an object');
  return value;
}

function readRule(value: JsonValue, path: string, shared: SharedFields): AuditRule {
  const rule = objectAt(value, path, ruleFields);
  const level = levels.find((item) => item === rule['level']);
  if (!level) throw new AuditPolicyError(`${path}.level: must be one of ${levels.join(', ')}`);
  const omitManagedFields = flagIn(rule, `${path}.omitManagedFields`) ?? shared.omitManagedFields;
  return {
    level,
    users: textsIn(rule, `${path}.users`),
    userGroups: textsIn(rule, `${path}.userGroups`),
    verbs: textsIn(rule, `${path}.verbs`),
    ...targetsOf(rule, path),
    omitStages: [...shared.omitStages, ...stagesIn(rule, `${path}.omitStages`)],
    omitManagedFields,
  };
}

function targetsOf(
  rule: JsonObject,
  path: string,
): Required<Pick<AuditRule, 'resources' | 'namespaces' | 'nonResourceURLs'>> {
  const resources = listIn(rule, `${path}.resources`).map((item, index) =>
    readResources(item, `${path}.resources[${index}]`),
  );
  const namespaces = textsIn(rule, `${path}.namespaces`);
  const nonResourceURLs = pathsIn(rule, `${path}.nonResourceURLs`);
  if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0)
    throw new AuditPolicyError(
      `${path}.nonResourceURLs: a rule is about resources or about other paths, not about both; make two rules of it`,
    );
  return { resources, namespaces, nonResourceURLs };
}

function readResources(value: JsonValue, path: string): AuditResources {
  const item = objectAt(value, path, resourcesFields);
  const { group = '' } = item;
  if (typeof group !== 'string' || !/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/.test(group))
    throw new AuditPolicyError(`${path}.group: must be the name of an API group; "" is the core group`);
  const resources = textsIn(item, `${path}.resources`);
  const resourceNames = textsIn(item, `${path}.resourceNames`);
  if (resourceNames.length > 0 && resources.length === 0)
    throw new AuditPolicyError(`${path}.resourceNames: names need at least one entry in resources`);
  return { group, resources, resourceNames };
}

function objectAt(value: JsonValue, path: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw new AuditPolicyError(`${path}: must be an object`);
  refuseUnknown(value, `${path}.`, known);
  return value;
}

function refuseUnknown(object: JsonObject, prefix: string, known: readonly string[]): void {
  const unknown = Object.keys(object).find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw new AuditPolicyError(`${prefix}${unknown}: there is no such field; there are ${known.join(', ')}`);
}

/** The last part of `path` names the field. */
function fieldAt(object: JsonObject, path: string): JsonValue | undefined {
  return object[path.slice(path.lastIndexOf('.') + 1)];
}

function listIn(object: JsonObject, path: string): readonly JsonValue[] {
  const value = fieldAt(object, path) ?? [];
  if (!Array.isArray(value)) throw new AuditPolicyError(`${path}: must be a list`);
  return value;
}

function textsIn(object: JsonObject, path: string): readonly string[] {
  return listIn(object, path).map((item, index) => {
    if (typeof item !== 'string') throw new AuditPolicyError(`${path}[${index}]: must be a string`);
    return item;
  });
}

function stagesIn(object: JsonObject, path: string): readonly string[] {
  const found = textsIn(object, path);
  const wrong = found.find((stage) => !stages.includes(stage));
  if (wrong !== undefined)
    throw new AuditPolicyError(`${path}: ${JSON.stringify(wrong)} is none of ${stages.join(', ')}`);
  return found;
}

function pathsIn(object: JsonObject, path: string): readonly string[] {
  const found = textsIn(object, path);
  const wrong = found.find((item) => item !== '*' && !/^\/[^*]*\*?$/.test(item));
  if (wrong !== undefined)
    throw new AuditPolicyError(
      `${path}: ${JSON.stringify(wrong)} must begin with a slash, and may have one * at its end`,
    );
  return found;
}

function flagIn(object: JsonObject, path: string): boolean | undefined {
  const value = fieldAt(object, path);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw new AuditPolicyError(`${path}: must be true or false`);
  return value;
}
