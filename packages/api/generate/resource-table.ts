interface ResponseKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface DiscoveredResource {
  readonly resource: string;
  readonly singularResource: string;
  readonly responseKind?: ResponseKind;
  readonly scope: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources?: readonly {
    readonly subresource: string;
    readonly responseKind?: ResponseKind;
    readonly verbs: readonly string[];
  }[];
}

export interface DiscoveryDocument {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly DiscoveredResource[];
    }[];
  }[];
}

/** A row of the unaggregated `/api/v1` document. */
export interface PlainResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export type ResourceRow = Record<string, unknown>;

/** Rows in upstream's order of groups; the core group, which the aggregated document lacks, comes first. */
export function resourceTable(document: DiscoveryDocument, core: readonly PlainResource[]): ResourceRow[] {
  const rows = coreRows(core);
  for (const group of document.items) {
    for (const { version, resources } of group.versions) {
      if (!/^v\d+$/.test(version) || !group.metadata.name) continue;
      const groupVersion = { group: group.metadata.name, version };
      for (const resource of resources ?? []) rows.push(aggregatedRow(resource, groupVersion));
    }
  }
  return rows;
}

function coreRows(core: readonly PlainResource[]): ResourceRow[] {
  const version = { group: '', version: 'v1' };
  return core
    .filter((row) => !row.name.includes('/'))
    .map((row) => {
      const subresources = core
        .filter((other) => other.name.startsWith(`${row.name}/`))
        .map((other) => ({
          name: other.name.slice(row.name.length + 1),
          kind: { group: other.group ?? '', version: other.version ?? 'v1', kind: other.kind },
          verbs: other.verbs,
        }));
      return {
        ...version,
        resource: row.name,
        singularName: row.singularName,
        kind: row.kind,
        ...tail(row, row.namespaced, row.kind),
        subresources,
      };
    });
}

function aggregatedRow(source: DiscoveredResource, version: { group: string; version: string }): ResourceRow {
  const kind = source.responseKind?.kind ?? '';
  return {
    ...version,
    resource: source.resource,
    singularName: source.singularResource,
    kind,
    ...tail(source, source.scope === 'Namespaced', kind),
    subresources: (source.subresources ?? []).map((sub) => ({
      name: sub.subresource,
      kind: sub.responseKind?.version
        ? { group: sub.responseKind.group, version: sub.responseKind.version, kind: sub.responseKind.kind }
        : { ...version, kind: sub.responseKind?.kind ?? '' },
      verbs: sub.verbs,
    })),
  };
}

function tail(
  source: Pick<PlainResource, 'verbs' | 'shortNames' | 'categories'>,
  namespaced: boolean,
  kind: string,
): ResourceRow {
  return {
    listKind: source.verbs.includes('list') ? `${kind}List` : '',
    namespaced,
    shortNames: source.shortNames ?? [],
    categories: source.categories ?? [],
    verbs: source.verbs,
  };
}
