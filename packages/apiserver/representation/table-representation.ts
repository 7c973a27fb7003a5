import type { Clock, JsonObject, JsonValue } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import { partialMetadata } from './metadata-representation.ts';
import type { Format, ListMeta, Representation } from './representation.ts';
import type { ServedObject } from './served-object.ts';

/** What a row of a table carries beside its cells (`?includeObject=`). */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly metaVersion: string;
  readonly include: IncludeObject;
  readonly clock: Clock;
}

/** `as=Table`: what `kubectl get` prints. */
export function tableRepresentation(
  resource: Resource,
  format: Format,
  options: TableOptions,
): Representation {
  const apiVersion = `meta.k8s.io/${options.metaVersion}`;
  const definitions = resource.columns.definitions.map((column) => ({ ...column }));
  const table = (rows: JsonValue[], meta: JsonObject, columns: JsonValue): JsonObject => ({
    kind: 'Table',
    apiVersion,
    metadata: meta,
    columnDefinitions: columns,
    rows,
  });
  const row = (served: ServedObject, now: number): JsonObject => {
    const cells = [...resource.columns.cells(served.object, now)];
    const object = includedObject(served, options.include, apiVersion);
    return { cells, object: object ?? null };
  };
  const single = (served: ServedObject, columns: JsonValue): Uint8Array => {
    const meta = { resourceVersion: served.object.metadata.resourceVersion };
    return format.encode(table([row(served, options.clock.now())], meta, columns));
  };
  return {
    key: `table/${options.metaVersion}/${options.include}/${format.contentType}/${resource.version}`,
    contentType: format.contentType,
    watchContentType: format.watchContentType,
    marksFirstFrame: true,
    one(served) {
      return single(served, definitions);
    },
    list(items, meta: ListMeta) {
      const now = options.clock.now();
      return format.encode(
        table(
          items.map((item) => row(item, now)),
          { ...meta },
          definitions,
        ),
      );
    },
    frame(type, served, isFirst) {
      return format.frame(type, single(served, isFirst ? definitions : null));
    },
    bookmark(revision, annotations, isFirst) {
      const { kind, group, version } = resource;
      const own = group === '' ? version : `${group}/${version}`;
      const metadata: JsonObject = {
        resourceVersion: revision,
        ...(annotations ? { annotations } : {}),
      };
      const object: JsonObject =
        options.include === 'Object'
          ? { kind, apiVersion: own, metadata }
          : { kind: 'PartialObjectMetadata', apiVersion, metadata };
      const cells = [...resource.columns.cells(resource.strategy.emptyObject(), options.clock.now())];
      const rows = [{ cells, object }];
      return format.frame(
        'BOOKMARK',
        format.encode(table(rows, { resourceVersion: revision }, isFirst ? definitions : null)),
      );
    },
  };
}

function includedObject(
  served: ServedObject,
  include: IncludeObject,
  apiVersion: string,
): JsonObject | undefined {
  switch (include) {
    case 'None':
      return undefined;
    case 'Metadata':
      return partialMetadata(served.object, apiVersion);
    case 'Object':
      return served.object as unknown as JsonObject;
  }
}
