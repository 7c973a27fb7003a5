import type { KubeObject } from '@sheaf/api';
import { type Disposable, DisposableStore } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { type PolicyRule, rulesOf } from './policy-rule.ts';
import { type BoundSubject, type RoleReference, roleReferenceOf, subjectsOf } from './rbac-subjects.ts';

/** A binding that applies to a user, with what it refers to. */
export interface AppliedBinding {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly role: RoleReference;
  readonly subject: BoundSubject;
}

export const rbacGroup = 'rbac.authorization.k8s.io';

/** Bindings of one resource, by namespace and subject, kept up to date change by change. */
class BindingIndex implements Disposable {
  readonly #view: LiveView;
  readonly #bySubject = new Map<string, Map<string, AppliedBinding>>();
  readonly #keysOf = new Map<string, readonly string[]>();
  readonly #subscription: Disposable;
  #seenVersion = -1;

  constructor(view: LiveView) {
    this.#view = view;
    this.#subscription = view.onChange(({ namespace, name }) => {
      // Before the first question nothing is indexed, and one change is not all there is.
      if (this.#seenVersion < 0) return;
      this.#replace(namespace, name, view.get(namespace, name));
      this.#seenVersion = view.version;
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  find(namespace: string, subjectKey: string): Iterable<AppliedBinding> {
    if (this.#seenVersion !== this.#view.version) this.#rebuild();
    return this.#bySubject.get(`${namespace}/${subjectKey}`)?.values() ?? [];
  }

  #rebuild(): void {
    this.#bySubject.clear();
    this.#keysOf.clear();
    for (const binding of this.#view.list()) {
      this.#add(binding.metadata.namespace ?? '', binding.metadata.name ?? '', binding);
    }
    this.#seenVersion = this.#view.version;
  }

  #replace(namespace: string, name: string, binding: KubeObject | undefined): void {
    const id = `${namespace}/${name}`;
    for (const key of this.#keysOf.get(id) ?? []) {
      const bindings = this.#bySubject.get(key);
      bindings?.delete(id);
      if (bindings?.size === 0) this.#bySubject.delete(key);
    }
    this.#keysOf.delete(id);
    if (binding) this.#add(namespace, name, binding);
  }

  #add(namespace: string, name: string, binding: KubeObject): void {
    const id = `${namespace}/${name}`;
    const role = roleReferenceOf(binding);
    const keys: string[] = [];
    for (const subject of subjectsOf(binding)) {
      const key = `${namespace}/${subject.key}`;
      let bindings = this.#bySubject.get(key);
      if (!bindings) this.#bySubject.set(key, (bindings = new Map()));
      bindings.set(id, { name, namespace, role, subject });
      keys.push(key);
    }
    this.#keysOf.set(id, keys);
  }
}

/** All RBAC objects, arranged for the question "what applies to this user?". */
export class RbacIndex implements Disposable {
  readonly #roles: LiveView;
  readonly #clusterRoles: LiveView;
  readonly #roleBindings: LiveView;
  readonly #clusterRoleBindings: LiveView;
  readonly #inNamespaces: BindingIndex;
  readonly #clusterWide: BindingIndex;
  readonly #disposables = new DisposableStore();

  constructor(views: LiveViews) {
    this.#roles = views.of(rbacGroup, 'roles');
    this.#clusterRoles = views.of(rbacGroup, 'clusterroles');
    this.#roleBindings = views.of(rbacGroup, 'rolebindings');
    this.#clusterRoleBindings = views.of(rbacGroup, 'clusterrolebindings');
    this.#inNamespaces = this.#disposables.add(new BindingIndex(this.#roleBindings));
    this.#clusterWide = this.#disposables.add(new BindingIndex(this.#clusterRoleBindings));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Changes whenever any RBAC object does. */
  get version(): number {
    return (
      this.#roles.version +
      this.#clusterRoles.version +
      this.#roleBindings.version +
      this.#clusterRoleBindings.version
    );
  }

  /** Bindings of any of the subjects: cluster-wide ones first, then those of `namespace` if it is not empty. */
  *bindingsFor(subjectKeys: readonly string[], namespace: string): Generator<AppliedBinding> {
    for (const key of subjectKeys) yield* this.#clusterWide.find('', key);
    if (namespace === '') return;
    for (const key of subjectKeys) yield* this.#inNamespaces.find(namespace, key);
  }

  /** `undefined` if the role does not exist. */
  findRules(role: RoleReference, bindingNamespace: string): readonly PolicyRule[] | undefined {
    const object = this.#findRole(role, bindingNamespace);
    return object && rulesOf(object);
  }

  #findRole(role: RoleReference, bindingNamespace: string): KubeObject | undefined {
    if (role.kind === 'ClusterRole') return this.#clusterRoles.get('', role.name);
    if (role.kind === 'Role' && bindingNamespace !== '') return this.#roles.get(bindingNamespace, role.name);
    return undefined;
  }
}

/** e.g. `ClusterRoleBinding "b" of ClusterRole "view" to User "jane"`. */
export function bindingText(binding: AppliedBinding): string {
  const [kind, name] =
    binding.namespace === ''
      ? ['ClusterRoleBinding', binding.name]
      : ['RoleBinding', `${binding.name}/${binding.namespace}`];
  return `${kind} ${JSON.stringify(name)} of ${binding.role.kind} ${JSON.stringify(binding.role.name)} to ${binding.subject.text}`;
}

/** What a reference to a missing role is called in reasons. */
export function missingRoleText(role: RoleReference): string {
  if (role.kind === 'ClusterRole') return `clusterrole.${rbacGroup} ${JSON.stringify(role.name)} not found`;
  if (role.kind === 'Role') return `role.${rbacGroup} ${JSON.stringify(role.name)} not found`;
  return `unsupported role reference kind: ${JSON.stringify(role.kind)}`;
}
