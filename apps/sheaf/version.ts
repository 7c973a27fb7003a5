import type { ServerVersion } from '@sheaf/apiserver/health/index';
import manifest from './package.json' with { type: 'json' };

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** What `/version` tells; the platform in Go's words. */
export function serverVersion(): ServerVersion {
  const { platform, arch } = process;
  return { sheaf: manifest.version, platform: `${platform}/${architectures[arch] ?? arch}` };
}
