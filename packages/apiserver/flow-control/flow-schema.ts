import { asJson, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import { stringsOf } from '../authorization/policy-rule.ts';
import type { RequestInfo, ResourceRequestInfo } from '../pipeline/request-info.ts';

/** A FlowSchema, read once: which requests are its, and the priority level that they belong to. */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  /** The lowest is asked first. */
  readonly precedence: number;
  matches(user: User, info: RequestInfo): boolean;
}

type SubjectTest = (user: User) => boolean;
type RuleTest = (info: RequestInfo) => boolean;

const every = '*';
const usualPrecedence = 1000;

export function readFlowSchema(object: KubeObject): FlowSchema {
  const spec = objectOf(asJson(object)['spec']);
  const clauses = objectsOf(spec['rules']).map(readClause);
  const precedence = spec['matchingPrecedence'];
  return {
    name: object.metadata.name ?? '',
    uid: object.metadata.uid ?? '',
    level: textOf(objectOf(spec['priorityLevelConfiguration'])['name']),
    precedence: typeof precedence === 'number' ? precedence : usualPrecedence,
    matches: (user, info) => clauses.some((clause) => clause(user, info)),
  };
}

/** Some subject and some rule must fit. */
function readClause(clause: JsonObject): (user: User, info: RequestInfo) => boolean {
  const subjects = objectsOf(clause['subjects']).map(subjectTest);
  const rules: readonly RuleTest[] = [
    ...objectsOf(clause['resourceRules']).map(resourceTest),
    ...objectsOf(clause['nonResourceRules']).map(pathTest),
  ];
  return (user, info) => subjects.some((test) => test(user)) && rules.some((test) => test(info));
}

function subjectTest(subject: JsonObject): SubjectTest {
  switch (subject['kind']) {
    case 'User': {
      const name = textOf(objectOf(subject['user'])['name']);
      return (user) => name === every || user.name === name;
    }
    case 'Group': {
      const name = textOf(objectOf(subject['group'])['name']);
      return (user) => name === every || user.groups.includes(name);
    }
    case 'ServiceAccount':
      return accountTest(objectOf(subject['serviceAccount']));
    default:
      return () => false;
  }
}

function accountTest(account: JsonObject): SubjectTest {
  const [namespace, name] = [textOf(account['namespace']), textOf(account['name'])];
  const prefix = `system:serviceaccount:${namespace}:`;
  return name === every ? (user) => user.name.startsWith(prefix) : (user) => user.name === `${prefix}${name}`;
}

function resourceTest(rule: JsonObject): RuleTest {
  const hasVerb = memberTest(rule['verbs']);
  const hasGroup = memberTest(rule['apiGroups']);
  const hasResource = memberTest(rule['resources']);
  const hasNamespace = memberTest(rule['namespaces']);
  const isClusterWide = rule['clusterScope'] === true;
  return (info) =>
    info.isResource &&
    hasVerb(info.verb) &&
    hasGroup(info.group) &&
    hasResource(resourceOf(info)) &&
    (info.namespace === '' ? isClusterWide : hasNamespace(info.namespace));
}

function resourceOf({ resource, subresource }: ResourceRequestInfo): string {
  return subresource === '' ? resource : `${resource}/${subresource}`;
}

function pathTest(rule: JsonObject): RuleTest {
  const hasVerb = memberTest(rule['verbs']);
  const paths = stringsOf(rule['nonResourceURLs']);
  return (info) =>
    !info.isResource && hasVerb(info.verb) && paths.some((pattern) => fitsPath(pattern, info.path));
}

function fitsPath(pattern: string, path: string): boolean {
  return pattern.endsWith(every) ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

/** Whether a text is in a list; `*` in it stands for all. */
function memberTest(list: JsonValue | undefined): (text: string) => boolean {
  const members = new Set(stringsOf(list));
  return members.has(every) ? () => true : (text) => members.has(text);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
