import type { AdmissionRule } from './admission.ts';
import type { ExtensionGroup } from './group.ts';
import type { Route } from './route.ts';

/** What a feature may add to the API. It is called while the server is put together; afterwards nothing is added. */
export interface ApiExtensions {
  /** Endpoints of a group version that is there already are added to it. @throws Error when one is there already */
  addGroup(group: ExtensionGroup): void;
  /** @throws Error when the path is the server's own, or is served already */
  addRoute(route: Route): void;
  /** Rules are asked in the order in which they were added. @throws Error when the name is in use */
  addAdmission(rule: AdmissionRule): void;
}

/** Resources, and what the server tells of itself. */
const ownPaths = /^\/(apis?|openapi|healthz|livez|readyz|version|metrics|sheaf|\.well-known)(\/|$)/;

/** Everything that the features of a process add to its API. */
export class ExtensionSet implements ApiExtensions {
  readonly #groups = new Map<string, ExtensionGroup>();
  readonly #routes = new Map<string, Route>();
  readonly #rules = new Map<string, AdmissionRule>();

  get groups(): readonly ExtensionGroup[] {
    return [...this.#groups.values()];
  }

  get routes(): readonly Route[] {
    return [...this.#routes.values()];
  }

  get admission(): readonly AdmissionRule[] {
    return [...this.#rules.values()];
  }

  addGroup(added: ExtensionGroup): void {
    const { group, version, endpoints } = added;
    const id = `${group}/${version}`;
    const known = this.#groups.get(id)?.endpoints ?? [];
    const names = new Set(known.map(endpointName));
    for (const name of endpoints.map(endpointName)) {
      if (names.has(name)) throw new Error(`${name} of ${id} is served already: add it once`);
      names.add(name);
    }
    this.#groups.set(id, { group, version, endpoints: [...known, ...endpoints] });
  }

  addRoute(route: Route): void {
    if (!route.path.startsWith('/') || ownPaths.test(route.path))
      throw new Error(
        `${route.path} cannot be a route: it is the server's own; resources are added as a group`,
      );
    // Parameters of other names are the same place.
    const place = `${route.method} ${route.path.replaceAll(/\{[^}.]*/g, '{')} ${route.action ?? ''}`;
    if (this.#routes.has(place))
      throw new Error(`${route.method} ${route.path} is served already: add it once`);
    this.#routes.set(place, route);
  }

  addAdmission(rule: AdmissionRule): void {
    if (this.#rules.has(rule.name)) throw new Error(`there is an admission rule ${rule.name} already`);
    this.#rules.set(rule.name, rule);
  }
}

function endpointName({ resource, subresource }: ExtensionGroup['endpoints'][number]): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}
