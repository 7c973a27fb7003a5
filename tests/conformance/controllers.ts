import { kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import type { Theme } from './theme.ts';

/**
 * What controllers put into every namespace, and the groups of the kinds that a whole Sheaf serves besides the built-in ones,
 * are left out of answers, so that it can be held against a recording of a server without controllers. Counts of pages
 * still tell the first; they are in `with-controllers.yaml`.
 */
const rootBundle = 'kube-root-ca.crt';
/** Those of its kinds, and those of requests to virtual machines and of uploads, which have no kinds that are kept. */
const ownGroups = new Set<unknown>([
  ...kindDefinitions().map(({ spec }) => spec.group),
  'subresources.kubevirt.io',
  'upload.cdi.kubevirt.io',
]);

export function withoutWorkOfControllers(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { items, rows, groups } = body;
  return {
    ...body,
    ...(Array.isArray(items) ? { items: items.filter((item) => nameOf(item) !== rootBundle) } : {}),
    ...(Array.isArray(rows) ? { rows: rows.filter((row) => nameOfRow(row) !== rootBundle) } : {}),
    ...(Array.isArray(groups) ? { groups: groups.filter((group) => !isOwnGroup(group)) } : {}),
  };
}

function isOwnGroup(group: unknown): boolean {
  return isObject(group) && ownGroups.has(group['name']);
}

export function isOfRootBundle(event: unknown): boolean {
  if (!isObject(event) || !isObject(event['object'])) return false;
  const { rows } = event['object'];
  return (Array.isArray(rows) ? nameOfRow(rows[0]) : nameOf(event['object'])) === rootBundle;
}

function nameOf(object: unknown): unknown {
  return isObject(object) && isObject(object['metadata']) ? object['metadata']['name'] : undefined;
}

function nameOfRow(row: unknown): unknown {
  if (!isObject(row)) return undefined;
  return Array.isArray(row['cells']) ? row['cells'][0] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const workloads = /^\S+ (\/apis\/(apps|batch)\/|\/api\/v1\/(namespaces\/[^/]+\/)?pods\b)/;

/**
 * Titles of the pairs about what controllers of workloads and the scheduler write to at any moment: only a server without them
 * can be held against the recording there.
 */
export function titlesOfWorkloads({ exchanges }: Pick<Theme, 'exchanges'>): ReadonlySet<string> {
  const about = exchanges.filter(({ send = '' }) => workloads.test(send));
  const watches = new Set(about.flatMap(({ open }) => (open === undefined ? [] : [open])));
  const told = exchanges.filter(({ collect }) => collect !== undefined && watches.has(collect));
  return new Set([...about, ...told].map(({ title }) => title));
}
