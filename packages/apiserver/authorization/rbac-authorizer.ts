import type { Disposable } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import type { LiveViews } from '../storage/live-view.ts';
import type {
  AuthorizationAttributes,
  AuthorizationDecision,
  Authorizer,
  NonResourceAttributes,
  ResourceAttributes,
} from './attributes.ts';
import { type PolicyRule, ruleAllows, ruleConcerns } from './policy-rule.ts';
import { bindingText, missingRoleText, RbacIndex } from './rbac-index.ts';
import { type RoleReference, subjectKeys } from './rbac-subjects.ts';

/** The rules that apply to a user in a namespace. `errors`: references to roles that do not exist. */
export interface ApplicableRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/** What is known of one verb on one resource in one namespace: the answer for any name, or for single ones. */
interface Cell {
  readonly question: Question;
  readonly anyName: AuthorizationDecision | undefined;
  readonly byName: ReadonlyMap<string, AuthorizationDecision> | undefined;
  readonly otherwise: AuthorizationDecision;
}

type Question = Pick<ResourceAttributes, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace'>;

/** Everything remembered between two changes of RBAC objects; `cells` bounds its memory. */
interface Epoch {
  readonly version: number;
  cells: number;
}

interface UserCells {
  readonly epoch: Epoch;
  readonly subjects: readonly string[];
  readonly resources: Map<string, Cell>;
  readonly paths: Map<string, AuthorizationDecision>;
}

const maximumCells = 100_000;

/**
 * Role-based access control over the live RBAC objects. Decisions are kept per user until any RBAC object changes, so
 * that a repeated question costs one map look-up; the answer to a new one costs the rules bound to the user's subjects.
 */
export class RbacAuthorizer implements Authorizer, Disposable {
  readonly #index: RbacIndex;
  /** Users that authenticators cache keep their identity; others (impersonated ones) are found by name and groups. */
  readonly #byIdentity = new WeakMap<User, UserCells>();
  readonly #byName = new Map<string, UserCells>();
  #epoch: Epoch = { version: -1, cells: 0 };

  constructor(views: LiveViews) {
    this.#index = new RbacIndex(views);
  }

  dispose(): void {
    this.#index.dispose();
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationDecision {
    const known = this.#cellsOf(attributes.user);
    return attributes.isResource
      ? this.#decideResource(known, attributes)
      : this.#decidePath(known, attributes);
  }

  /** Every rule that applies to the user cluster-wide and, if `namespace` is not empty, in it. */
  rulesFor(user: User, namespace: string): ApplicableRules {
    const rules: PolicyRule[] = [];
    const errors: string[] = [];
    for (const binding of this.#index.bindingsFor(subjectKeys(user), namespace)) {
      const found = this.#index.findRules(binding.role, binding.namespace);
      if (found) rules.push(...found);
      else errors.push(missingRoleText(binding.role));
    }
    return { rules, errors };
  }

  /** The rules of a role, as a binding in `namespace` (empty: cluster-wide) would see them; `undefined` if missing. */
  findRoleRules(role: RoleReference, namespace: string): readonly PolicyRule[] | undefined {
    return this.#index.findRules(role, namespace);
  }

  #cellsOf(user: User): UserCells {
    const version = this.#index.version;
    if (this.#epoch.version !== version || this.#epoch.cells > maximumCells) {
      this.#epoch = { version, cells: 0 };
      this.#byName.clear();
    }
    const known = this.#byIdentity.get(user);
    if (known?.epoch === this.#epoch) return known;
    const fresh = this.#cellsByName(user);
    this.#byIdentity.set(user, fresh);
    return fresh;
  }

  #cellsByName(user: User): UserCells {
    const subjects = subjectKeys(user);
    const key = JSON.stringify(subjects);
    let cells = this.#byName.get(key);
    if (!cells) {
      cells = { epoch: this.#epoch, subjects, resources: new Map(), paths: new Map() };
      this.#byName.set(key, cells);
      this.#epoch.cells++;
    }
    return cells;
  }

  #decideResource(known: UserCells, attributes: ResourceAttributes): AuthorizationDecision {
    const { verb, group, resource, subresource, namespace } = attributes;
    const key = `${verb} ${group} ${resource} ${subresource} ${namespace}`;
    let cell = known.resources.get(key);
    // Reviews may ask with any text, blanks included: a key alone does not tell questions apart.
    if (!cell || !isSameQuestion(cell.question, attributes)) {
      cell = this.#resolveResource(known.subjects, attributes);
      known.resources.set(key, cell);
      this.#epoch.cells++;
    }
    return cell.anyName ?? cell.byName?.get(attributes.name) ?? cell.otherwise;
  }

  #decidePath(known: UserCells, attributes: NonResourceAttributes): AuthorizationDecision {
    const key = `${attributes.verb.length} ${attributes.verb}${attributes.path}`;
    let decision = known.paths.get(key);
    if (!decision) {
      decision = this.#resolvePath(known.subjects, attributes);
      known.paths.set(key, decision);
      this.#epoch.cells++;
    }
    return decision;
  }

  #resolveResource(subjects: readonly string[], attributes: ResourceAttributes): Cell {
    const errors: string[] = [];
    const byName = new Map<string, AuthorizationDecision>();
    const { verb, group, resource, subresource, namespace } = attributes;
    const question = { verb, group, resource, subresource, namespace };
    for (const binding of this.#index.bindingsFor(subjects, attributes.namespace)) {
      const rules = this.#index.findRules(binding.role, binding.namespace);
      if (!rules) errors.push(missingRoleText(binding.role));
      for (const rule of rules ?? []) {
        if (!ruleConcerns(rule, attributes)) continue;
        const decision = allow(bindingText(binding));
        if (rule.resourceNames.length === 0)
          return { question, anyName: decision, byName: undefined, otherwise: noOpinion };
        addNames(byName, rule.resourceNames, decision);
      }
    }
    return { question, anyName: undefined, byName, otherwise: refuse(errors) };
  }

  #resolvePath(subjects: readonly string[], attributes: NonResourceAttributes): AuthorizationDecision {
    const errors: string[] = [];
    for (const binding of this.#index.bindingsFor(subjects, '')) {
      const rules = this.#index.findRules(binding.role, '');
      if (!rules) errors.push(missingRoleText(binding.role));
      if (rules?.some((rule) => ruleAllows(rule, attributes))) return allow(bindingText(binding));
    }
    return refuse(errors);
  }
}

const noOpinion: AuthorizationDecision = { decision: 'no-opinion', reason: '' };

function allow(source: string): AuthorizationDecision {
  return { decision: 'allow', reason: `RBAC: allowed by ${source}` };
}

function refuse(errors: readonly string[]): AuthorizationDecision {
  if (errors.length === 0) return noOpinion;
  const unique = [...new Set(errors)];
  const text = unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`;
  return { decision: 'no-opinion', reason: `RBAC: ${text}` };
}

/** The first binding that allows a name is its reason. */
function addNames(
  byName: Map<string, AuthorizationDecision>,
  names: readonly string[],
  decision: AuthorizationDecision,
): void {
  for (const name of names) if (!byName.has(name)) byName.set(name, decision);
}

function isSameQuestion(a: Question, b: Question): boolean {
  return (
    a.namespace === b.namespace &&
    a.resource === b.resource &&
    a.verb === b.verb &&
    a.group === b.group &&
    a.subresource === b.subresource
  );
}
