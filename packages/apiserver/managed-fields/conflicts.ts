import { type StatusCause, StatusError } from '@sheaf/base';
import { compareText, type FieldPath, printPath } from './field-path.ts';
import { pathsOf } from './field-set.ts';
import type { Owner } from './owners.ts';
import type { OwnerConflict } from './transfer.ts';

/** The 409 of an apply that would change fields of others. */
export function conflictError(conflicts: readonly OwnerConflict[]): StatusError {
  const listed = conflicts
    .map(({ owner, fields }) => ({ owner, name: printOwner(owner), paths: pathsOf(fields) }))
    .sort((a, b) => compareText(sortKey(a.owner), sortKey(b.owner)));
  const causes: StatusCause[] = listed.flatMap(({ name, paths }) =>
    paths.map((path) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${name}`,
      field: printPath(path),
    })),
  );
  return new StatusError({
    reason: 'Conflict',
    message: conflictMessage(listed, causes.length),
    details: { causes },
  });
}

interface ListedConflict {
  readonly name: string;
  readonly paths: readonly FieldPath[];
}

function conflictMessage(listed: readonly ListedConflict[], count: number): string {
  const [first] = listed;
  const [onlyPath] = first?.paths ?? [];
  if (count === 1 && first && onlyPath) {
    return `Apply failed with 1 conflict: conflict with ${first.name}: ${printPath(onlyPath)}`;
  }
  const lines = listed.flatMap(({ name, paths }) => [
    `conflicts with ${name}:`,
    ...paths.map((path) => `- ${printPath(path)}`),
  ]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

/** Upstream sorts by its identifiers, which are these fields as JSON. */
function sortKey(owner: Owner): string {
  const { manager, operation, apiVersion, subresource } = owner;
  return JSON.stringify({
    manager,
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  });
}

/** `"kubectl" with subresource "scale" using apps/v1`; the version only of updaters. */
function printOwner(owner: Owner): string {
  const name = JSON.stringify(owner.manager);
  const subresource =
    owner.subresource === '' ? '' : ` with subresource ${JSON.stringify(owner.subresource)}`;
  return owner.operation === 'Update'
    ? `${name}${subresource} using ${owner.apiVersion}`
    : `${name}${subresource}`;
}
