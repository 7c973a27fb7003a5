import { badRequest } from '@sheaf/base';
import type { AuthorizationAttributes, Authorizer, ResourceAttributes } from '../authorization/attributes.ts';
import { forbidden } from '../authorization/forbidden.ts';
import { extraHeaders, headerValues } from './read-credentials.ts';
import { parseServiceAccountUserName, serviceAccountGroups } from './service-account-user.ts';
import type { Credentials, User } from './user.ts';

export interface ImpersonationRequest {
  /** The request as its real user makes it. */
  readonly attributes: AuthorizationAttributes;
  readonly headers: Credentials['headers'];
  readonly authorizer: Authorizer;
  readonly signal?: AbortSignal;
}

export interface ImpersonatedUser {
  readonly user: User;
  /** The verb that allowed it, for the audit log; empty for the plain verb `impersonate`. */
  readonly constraint: string;
}

/** The user somebody asks to act as, exactly as the headers say. */
interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>> | undefined;
}

const authenticationGroup = 'authentication.k8s.io';
const extraPrefix = 'impersonate-extra-';

/**
 * Who the request shall act as, if its headers say so, after the real user was found to be allowed to. Constrained modes
 * (verbs `impersonate:<mode>` and `impersonate-on:<mode>:<verb>`) are tried before the plain verb `impersonate`.
 * @throws StatusError 403 with the first mode's refusal, 400 for headers without a user
 */
export async function resolveImpersonation(
  request: ImpersonationRequest,
): Promise<ImpersonatedUser | undefined> {
  const wanted = readWanted(request.headers);
  if (!wanted) return undefined;
  let firstRefusal: Error | undefined;
  for (const mode of modesFor(wanted, request.attributes.user)) {
    const refusal = await new ImpersonationCheck(request, wanted, mode).findRefusal();
    if (refusal === undefined)
      return { user: toUser(wanted, mode), constraint: mode === '' ? '' : `impersonate:${mode}` };
    firstRefusal ??= refusal;
  }
  throw firstRefusal ?? new Error('no mode of impersonation applies');
}

/** Whether the headers ask for impersonation at all; cheap. */
export function wantsImpersonation(headers: Credentials['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

function readWanted(headers: Credentials['headers']): WantedUser | undefined {
  if (!wantsImpersonation(headers)) return undefined;
  const [name = ''] = headerValues(headers, 'impersonate-user');
  const [uid = ''] = headerValues(headers, 'impersonate-uid');
  const groups = headerValues(headers, 'impersonate-group');
  const extra = extraHeaders(headers, extraPrefix);
  if (name !== '') return { name, uid, groups, extra };
  if (uid === '' && groups.length === 0 && !extra) return undefined;
  throw badRequest(`requested ${describe({ name, uid, groups, extra })} without impersonating a user name`);
}

function describe({ uid, groups, extra }: WantedUser): string {
  const list =
    groups.length > 0
      ? `[]string{${groups.map((group) => JSON.stringify(group)).join(', ')}}`
      : '[]string(nil)';
  const keys = Object.entries(extra ?? {}).map(
    ([key, values]) =>
      `${JSON.stringify(key)}:[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`,
  );
  const map = extra ? `map[string][]string{${keys.join(', ')}}` : 'map[string][]string(nil)';
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${list}, Extra:${map}}`;
}

const nodePattern = /^system:node:([a-z0-9]([-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$/;

function nodeNameOf(userName: string): string | undefined {
  const name = userName.length <= 300 ? nodePattern.exec(userName)?.[1] : undefined;
  return name !== undefined && name.length <= 253 ? name : undefined;
}

/** Constrained modes that fit, narrowest first; the empty one is the plain verb. */
function modesFor(wanted: WantedUser, requestor: User): string[] {
  const nodeName = nodeNameOf(wanted.name);
  const isAccount = parseServiceAccountUserName(wanted.name) !== undefined;
  if (nodeName === undefined && !isAccount) return ['user-info', ''];
  if (wanted.uid !== '' || wanted.groups.length > 0 || wanted.extra) return [''];
  if (nodeName === undefined) return ['serviceaccount', ''];
  return runsOnNode(requestor, nodeName) ? ['associated-node', 'arbitrary-node', ''] : ['arbitrary-node', ''];
}

/** Whether the user is a service account whose token is bound to a pod on that node. */
function runsOnNode(user: User, nodeName: string): boolean {
  const nodes = user.extra?.['authentication.kubernetes.io/node-name'] ?? [];
  return nodes.length === 1 && nodes[0] === nodeName && parseServiceAccountUserName(user.name) !== undefined;
}

function toUser(wanted: WantedUser, mode: string): User {
  const groups = withBaseGroup(wanted.name, groupsOf(wanted, mode));
  return {
    name: wanted.name,
    ...(wanted.uid !== '' && { uid: wanted.uid }),
    groups,
    ...(wanted.extra && { extra: wanted.extra }),
  };
}

function groupsOf(wanted: WantedUser, mode: string): readonly string[] {
  if (mode.endsWith('-node')) return ['system:nodes'];
  const account = parseServiceAccountUserName(wanted.name);
  return account && wanted.groups.length === 0 ? serviceAccountGroups(account.namespace) : wanted.groups;
}

function withBaseGroup(name: string, groups: readonly string[]): readonly string[] {
  if (groups.includes('system:unauthenticated')) return groups;
  const base = name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  return groups.includes(base) ? groups : [...groups, base];
}

/** The checks of one mode: may this request be made in it at all, and may each part of the user be taken on. */
class ImpersonationCheck {
  readonly #request: ImpersonationRequest;
  readonly #wanted: WantedUser;
  readonly #mode: string;

  constructor(request: ImpersonationRequest, wanted: WantedUser, mode: string) {
    this.#request = request;
    this.#wanted = wanted;
    this.#mode = mode;
  }

  /** The 403 of the first check that fails. */
  async findRefusal(): Promise<Error | undefined> {
    if (this.#mode !== '') {
      const { attributes } = this.#request;
      const refusal = await this.#ask({
        ...attributes,
        verb: `impersonate-on:${this.#mode}:${attributes.verb}`,
      });
      if (refusal) return refusal;
    }
    return this.#findObjection() ?? (await this.#askAll());
  }

  async #askAll(): Promise<Error | undefined> {
    for (const part of this.#parts()) {
      const refusal = await this.#ask(part);
      if (refusal) return refusal;
    }
    return undefined;
  }

  *#parts(): Generator<ResourceAttributes> {
    const { uid, groups, extra } = this.#wanted;
    yield this.#userPart();
    if (uid !== '') yield this.#part({ group: authenticationGroup, resource: 'uids', name: uid });
    for (const name of groups) yield this.#part({ group: this.#ownGroup(), resource: 'groups', name });
    for (const [subresource, values] of Object.entries(extra ?? {})) {
      for (const name of values)
        yield this.#part({ group: authenticationGroup, resource: 'userextras', subresource, name });
    }
  }

  #userPart(): ResourceAttributes {
    const { name } = this.#wanted;
    const group = this.#ownGroup();
    const account = parseServiceAccountUserName(name);
    if (account) return this.#part({ group, resource: 'serviceaccounts', ...account });
    const nodeName = this.#mode === '' ? undefined : nodeNameOf(name);
    if (nodeName === undefined) return this.#part({ group, resource: 'users', name });
    // Narrow right to one's own node is asked for all nodes: the association itself has been checked.
    return this.#part({ group, resource: 'nodes', name: this.#mode === 'associated-node' ? '*' : nodeName });
  }

  /** Users and groups belong to the core group for the plain verb. */
  #ownGroup(): string {
    return this.#mode === '' ? '' : authenticationGroup;
  }

  #part(
    part: Partial<ResourceAttributes> & Pick<ResourceAttributes, 'group' | 'resource'>,
  ): ResourceAttributes {
    const verb = this.#mode === '' ? 'impersonate' : `impersonate:${this.#mode}`;
    const { user } = this.#request.attributes;
    return { isResource: true, user, verb, version: 'v1', subresource: '', namespace: '', name: '', ...part };
  }

  /** Parts no constrained mode takes on. */
  #findObjection(): Error | undefined {
    if (this.#mode === '') return undefined;
    const group = authenticationGroup;
    const { groups, extra } = this.#wanted;
    if (groups.includes('')) {
      return forbidden(
        this.#part({ group, resource: 'groups' }),
        'impersonating the empty string group is not allowed',
      );
    }
    if (groups.includes('system:masters')) {
      const part = this.#part({ group, resource: 'groups', name: 'system:masters' });
      return forbidden(part, 'impersonating the system:masters group is not allowed');
    }
    const objection = extra && findExtraObjection(extra);
    return objection === undefined
      ? undefined
      : forbidden(this.#part({ group, resource: 'userextras' }), objection);
  }

  async #ask(attributes: AuthorizationAttributes): Promise<Error | undefined> {
    const decision = await this.#request.authorizer.authorize(attributes, this.#request.signal);
    return decision.decision === 'allow' ? undefined : forbidden(attributes, decision.reason);
  }
}

const extraKeyPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[^/ ].*$/;

function findExtraObjection(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    if (key.length > 1024 || !extraKeyPattern.test(key)) {
      return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
    }
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}
