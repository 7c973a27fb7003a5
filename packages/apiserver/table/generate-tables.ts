/**
 * Records what a kube-apiserver answers as tables, beside the same lists in full. Usage:
 *
 *     kubectl proxy --port 8001 &
 *     node generate-tables.ts columns http://127.0.0.1:8001 > generated/columns.json
 *     node generate-tables.ts rows http://127.0.0.1:8001 PATH… > fixtures/tables.json
 *
 * The paths are those of lists with objects worth to be compared, e.g. `/api/v1/namespaces/tables/pods`.
 */

interface Table {
  readonly columnDefinitions: readonly unknown[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly { metadata: { managedFields?: unknown } }[];
}

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly verbs: readonly string[];
  }[];
}

const [what = '', server = '', ...paths] = process.argv.slice(2);
const recorded = what === 'columns' ? await recordColumns() : await recordRows();
process.stdout.write(`${JSON.stringify(recorded, null, 1)}\n`);

async function get<T>(path: string, type = 'application/json'): Promise<T> {
  const answer = await fetch(server + path, { headers: { accept: type } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as T;
}

function getTable(path: string): Promise<Table> {
  const query = path.includes('?') ? '&' : '?';
  return get<Table>(`${path}${query}includeObject=None`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
}

async function recordColumns(): Promise<Record<string, unknown>> {
  const { groups } = await get<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis');
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));
  const columns: Record<string, unknown> = {};
  for (const version of ['v1', ...versions]) {
    const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
    const { resources } = await get<ResourceList>(root);
    for (const { name, kind, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      columns[keyOf(version, kind)] = (await getTable(`${root}/${name}?limit=1`)).columnDefinitions;
    }
  }
  return columns;
}

async function recordRows(): Promise<unknown[]> {
  const tables: unknown[] = [];
  for (const path of paths) {
    const { kind, apiVersion, items } = await get<List>(path);
    const { columnDefinitions, rows } = await getTable(path);
    for (const item of items) delete item.metadata.managedFields;
    tables.push({
      key: keyOf(apiVersion, kind.replace(/List$/, '')),
      version: apiVersion.split('/').at(-1),
      definitions: columnDefinitions,
      items,
      cells: rows.map((row) => row.cells),
    });
  }
  return tables;
}

function keyOf(apiVersion: string, kind: string): string {
  const [group, version] = apiVersion.split('/');
  return version === undefined ? kind : `${group}/${kind}`;
}
