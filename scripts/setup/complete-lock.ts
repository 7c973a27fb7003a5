/**
 * Adds to package-lock.json the optional packages of other platforms that the registry in use did not serve.
 * `npm ci` refuses a lock that lacks them, although it would never install them here. Run it after `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  packages: Record<string, LockedPackage>;
}

const operatingSystems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'openharmony',
  'win32',
  'sunos',
  'aix',
  'netbsd',
];
const processors = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'loong64'];

/** The optional packages that `lock` names but does not hold, as entries to add. */
export function missingPlatformPackages(lock: Lock): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {};
  for (const owner of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      if (lock.packages[path] !== undefined) continue;
      missing[path] = {
        version,
        ...platform(name),
        ...(owner.dev ? { dev: true } : {}),
        optional: true,
      } as LockedPackage;
    }
  }
  return missing;
}

/** What the name of a platform package says: `@oxlint/binding-linux-arm-gnueabihf` runs on linux, arm. */
function platform(name: string): object {
  const words = name.split(/[-/]/);
  const os = words.find((word) => operatingSystems.includes(word));
  const cpu = words.find((word) => processors.includes(word));
  if (os === undefined && cpu === undefined) throw new Error(`${name} names no platform`);
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(os ? { os: [os] } : {}) };
}

if (import.meta.main) {
  const path = new URL('../../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock;
  const missing = missingPlatformPackages(lock);
  const entries = Object.entries({ ...lock.packages, ...missing });
  lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')));
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${Object.keys(missing).length} entries added`);
}
