import { posix } from 'node:path';

/**
 * The layers of the house: which package may import which. This table is the only place where it is written down as
 * code; `house/layers` enforces it, docs/architecture/README.md draws it.
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  api: ['base'],
  store: ['base'],
  apiserver: ['api', 'store', 'base'],
  client: ['api', 'base'],
  runtime: ['client', 'api', 'base'],
  ports: ['api', 'base'],
  features: ['runtime', 'client', 'ports', 'api', 'base'],
  drivers: ['ports', 'base'],
  testkit: ['base', 'api', 'store', 'apiserver', 'client', 'runtime', 'ports', 'features', 'drivers'],
};

/** What a person looks at shows only what is in the API. */
const viewers = /^apps\/(web|sheaf\/(status|why|console|vm))(\/|\.ts$)/;
const viewerImports = ['client', 'api'];

const testFile = /\.(test|contract|fixture|test-d)\.ts$/;
/** What a test of any layer may use to try its subject for real. */
const testTools = ['testkit', 'client', 'apiserver', 'store', 'drivers'];
const pureFile = /^packages\/(base|api)\/|^packages\/features\/[^/]+\/(plan|admission)\.ts$/;

/** Builtin modules of Node that only compute. */
const pureBuiltins = [
  'node:assert',
  'node:buffer',
  'node:crypto',
  'node:path',
  'node:string_decoder',
  'node:url',
  'node:util',
  'node:zlib',
];

/** Layers that get time, randomness and configuration from their caller. */
const hermetic = /^packages\/(base|api|store|apiserver|client|runtime|features)\//;

/** Programs that write generated sources; they run on a developer's machine only. */
const generator = /(^|\/)generate(\/|-[^/]+\.ts$)/;

/** True for files that may not read clock, randomness or environment themselves. */
export function isHermetic(file: string): boolean {
  return hermetic.test(file) && !isTool(file);
}

/**
 * Why `file` (a path from the root of the checkout, with `/`) may not import `specifier`; `undefined` if it may.
 */
export function importViolation(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('node:')) return builtinViolation(file, specifier);
  const target = targetOf(file, specifier);
  if (target === undefined) return undefined;
  if (viewers.test(file)) return viewerViolation(file, target);
  const layer = packageOf(file);
  return layer === undefined ? undefined : packageViolation({ file, layer, target, specifier });
}

/** Tests and generators are not part of the program. */
function isTool(file: string): boolean {
  return testFile.test(file) || generator.test(file);
}

function builtinViolation(file: string, specifier: string): string | undefined {
  if (!pureFile.test(file) || isTool(file)) return undefined;
  const module = specifier.split('/')[0] ?? specifier;
  return pureBuiltins.includes(module) ? undefined : `${file} does no I/O, so it may not import ${specifier}`;
}

function viewerViolation(file: string, target: string): string | undefined {
  const layer = packageOf(target);
  if (layer === undefined || viewerImports.includes(layer)) return undefined;
  return `${file} may see only api and client: everything it shows is in the API`;
}

interface PackageImport {
  readonly file: string;
  readonly layer: string;
  readonly target: string;
  readonly specifier: string;
}

function packageViolation({ file, layer, target, specifier }: PackageImport): string | undefined {
  const targetLayer = packageOf(target);
  if (targetLayer === undefined) return `packages never import ${target.split('/')[0]}`;
  if (targetLayer === layer) return siblingViolation(file, target);
  if (specifier.startsWith('.')) return `other packages are imported by name: @sheaf/${targetLayer}`;
  const allowed = layers[layer] ?? [];
  if (allowed.includes(targetLayer)) return undefined;
  if (testFile.test(file) && testTools.includes(targetLayer)) return undefined;
  return `${layer} may import ${allowed.length > 0 ? allowed.join(', ') : 'nothing'}; not ${targetLayer}`;
}

/** Features meet through API objects, never through each other's code. */
function siblingViolation(file: string, target: string): string | undefined {
  if (packageOf(file) !== 'features' || featureOf(file) === featureOf(target)) return undefined;
  return 'features never import features: they meet through API objects';
}

/** The path from the root that `specifier` means, or `undefined` for packages of others. */
function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(file), specifier);
  if (!specifier.startsWith('@sheaf/')) return undefined;
  const path = specifier.slice('@sheaf/'.length);
  return path === 'sheaf' || path === 'web' ? `apps/${path}/` : `packages/${path}/`;
}

function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

function featureOf(path: string): string | undefined {
  return /^packages\/features\/([^/]+)/.exec(path)?.[1];
}
