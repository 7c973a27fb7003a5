import type { ApiResponse } from '../pipeline/api-request.ts';
import type { PathContext, PathHandler } from '../pipeline/path-handler.ts';
import { textResponse } from '../pipeline/responses.ts';
import {
  type HealthCheck,
  type HealthChecks,
  type HealthResult,
  type HealthScope,
  runCheck,
} from './health-checks.ts';

/** The older `/healthz` asks the same as `/readyz`. */
const scopes: Readonly<Record<string, HealthScope>> = { livez: 'livez', readyz: 'readyz', healthz: 'readyz' };

/**
 * `/livez`, `/readyz`, `/healthz`: text, 200 or 500, with `?verbose` and `?exclude=NAME`. These are open to everybody, so reasons
 * are only told under `/readyz/NAME`, which needs a right.
 */
export function healthPaths(checks: HealthChecks): PathHandler {
  return (context) => {
    const [, root = '', name = '', further] = context.info.path.split('/');
    const scope = Object.hasOwn(scopes, root) ? scopes[root] : undefined;
    if (!scope || further !== undefined) return undefined;
    if (name === '') return overall(root, checks.of(scope), context);
    const check = checks.of(scope).find((item) => item.name === name);
    return check && single(check);
  };
}

/** The paths that exist now, for the list of paths. */
export function listHealthPaths(checks: HealthChecks): string[] {
  return Object.entries(scopes).flatMap(([root, scope]) => [
    `/${root}`,
    ...checks.of(scope).map(({ name }) => `/${root}/${name}`),
  ]);
}

async function single(check: HealthCheck): Promise<ApiResponse> {
  const { reason } = await runCheck(check);
  return reason === undefined ? plain(200, 'ok') : plain(500, `internal server error: ${reason}\n`);
}

async function overall(
  root: string,
  checks: readonly HealthCheck[],
  { query }: PathContext,
): Promise<ApiResponse> {
  const excluded = new Set(query.getAll('exclude').flatMap((value) => value.split(',')));
  const results = await Promise.all(
    checks.map((check) => (excluded.has(check.name) ? Promise.resolve(undefined) : runCheck(check))),
  );
  const lines = checks.map((check, index) => lineOf(check, results[index]));
  const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) lines.push(unknownExclusions(unknown));
  if (results.some((result) => result?.reason !== undefined))
    return plain(500, `${lines.join('')}${root} check failed\n`);
  return plain(200, query.has('verbose') ? `${lines.join('')}${root} check passed\n` : 'ok');
}

function lineOf(check: HealthCheck, result: HealthResult | undefined): string {
  if (!result) return `[+]${check.name} excluded: ok\n`;
  return result.reason === undefined ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`;
}

function unknownExclusions(names: readonly string[]): string {
  const quoted = names.map((name) => JSON.stringify(name)).join(',');
  return `warn: some health checks cannot be excluded: no matches for ${quoted}\n`;
}

function plain(status: number, text: string): ApiResponse {
  const response = textResponse(status, text);
  response.headers['x-content-type-options'] = 'nosniff';
  return response;
}
