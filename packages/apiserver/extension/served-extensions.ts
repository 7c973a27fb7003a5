import type { ExtensionEndpoint, ExtensionGroup } from '@sheaf/api';
import type { RemoteGroupVersion, RemoteResource } from '../discovery/served-groups.ts';
import type { ResourceRequestInfo } from '../pipeline/request-info.ts';

/** The extension groups of this server, by what requests ask for. They are the same for as long as it runs. */
export class ServedExtensions {
  readonly #endpoints = new Map<string, ExtensionEndpoint>();
  readonly #versions = new Set<string>();
  /** As discovery shows them. */
  readonly groups: readonly RemoteGroupVersion[];

  constructor(all: readonly ExtensionGroup[] = []) {
    for (const { group, version, endpoints } of all) {
      for (const endpoint of endpoints)
        this.#endpoints.set(
          endpointKey({ group, version, ...endpoint }, endpoint.subresource ?? ''),
          endpoint,
        );
    }
    const groups = all
      .map((group) => ({ ...group, endpoints: group.endpoints.filter(({ isOfKept }) => !isOfKept) }))
      .filter(({ endpoints }) => endpoints.length > 0);
    for (const { group, version } of groups) this.#versions.add(`${group}/${version}`);
    this.groups = groups.map(({ group, version, endpoints }) => ({
      group,
      version,
      isAvailable: true,
      resources: endpoints.map(discovered),
    }));
  }

  /** True for group versions that have extensions, whatever else they have. */
  hasVersion(group: string, version: string): boolean {
    return this.#versions.size > 0 && this.#versions.has(`${group}/${version}`);
  }

  /** The endpoint that a request is for. */
  find(info: ResourceRequestInfo): ExtensionEndpoint | undefined {
    // Most requests are for kept objects themselves.
    if (info.subresource === '' && !this.hasVersion(info.group, info.version)) return undefined;
    const inner =
      info.rest === '' ? undefined : this.#endpoints.get(endpointKey(info, innerSubresource(info)));
    if (inner) return inner;
    const outer = this.#endpoints.get(endpointKey(info, info.subresource));
    return outer && (info.rest === '' || outer.takesRest) ? outer : undefined;
  }
}

/** `vnc/screenshot` of `…/NAME/vnc/screenshot`. */
function innerSubresource({ subresource, rest }: ResourceRequestInfo): string {
  return `${subresource}${rest}`;
}

function endpointKey(
  place: { readonly group: string; readonly version: string; readonly resource: string },
  subresource: string,
): string {
  return `${place.group}/${place.version}/${place.resource}/${subresource}`;
}

function discovered(endpoint: ExtensionEndpoint): RemoteResource {
  const { resource, subresource, verbs, isNamespaced = true, kind = '' } = endpoint;
  return {
    name: subresource === undefined ? resource : `${resource}/${subresource}`,
    singularName: '',
    namespaced: isNamespaced,
    kind,
    verbs,
  };
}
