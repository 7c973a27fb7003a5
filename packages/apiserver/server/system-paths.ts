import {
  type HealthChecks,
  healthPaths,
  indexPath,
  keySetPath,
  listHealthPaths,
  openidConfigurationPath,
  openidPaths,
  type ServerVersion,
  versionPath,
} from '../health/index.ts';
import type { PathHandler } from '../pipeline/path-handler.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import type { AccessOptions } from './access.ts';

export interface SystemPathOptions extends Pick<AccessOptions, 'signingKeys' | 'issuers'> {
  readonly serverAddress: () => string;
  readonly version?: ServerVersion;
  /** Further paths and their names in the list of paths. */
  readonly furtherPaths?: readonly { readonly path: string; readonly handler: PathHandler }[];
}

const unknownVersion: ServerVersion = { sheaf: '0.0.0', platform: 'linux/amd64' };

/** The paths that say how the server is, what it is, and what it has. */
export function systemPaths(
  registry: ResourceRegistry,
  health: HealthChecks,
  options: SystemPathOptions,
): readonly PathHandler[] {
  const further = options.furtherPaths ?? [];
  const listed = ['/version', '/openapi/v2', '/openapi/v3', openidConfigurationPath, keySetPath];
  return [
    healthPaths(health),
    versionPath(options.version ?? unknownVersion),
    openidPaths({
      issuer: options.issuers[0] ?? '',
      keys: options.signingKeys,
      serverAddress: options.serverAddress,
    }),
    ...further.map(({ handler }) => handler),
    indexPath(registry, () => [...listed, ...further.map(({ path }) => path), ...listHealthPaths(health)]),
  ];
}
