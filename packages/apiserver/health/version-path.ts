import type { PathHandler } from '../pipeline/path-handler.ts';
import { bytesResponse } from '../pipeline/responses.ts';

/** What the server says of itself. */
export interface ServerVersion {
  /** Of Sheaf, e.g. `0.1.0`. */
  readonly sheaf: string;
  /** As Go names it, e.g. `linux/amd64`. */
  readonly platform: string;
}

/** The release of the Kubernetes API that is served; clients decide by it what they may use. */
export const kubernetesVersion = { major: '1', minor: '36', release: 'v1.36.3' };

/** As it stands in `/version`, and where nodes tell what looks after them. */
export function gitVersion({ sheaf }: ServerVersion): string {
  return `${kubernetesVersion.release}+sheaf-${sheaf}`;
}

/** `/version`. */
export function versionPath(version: ServerVersion): PathHandler {
  const { major, minor } = kubernetesVersion;
  const document = {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: gitVersion(version),
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: '',
    platform: version.platform,
  };
  const bytes = Buffer.from(JSON.stringify(document, undefined, 2));
  return ({ info }) =>
    info.path === '/version' || info.path === '/version/'
      ? bytesResponse(200, 'application/json', bytes)
      : undefined;
}
