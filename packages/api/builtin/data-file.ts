/**
 * Reads a committed data file of `generated/` when it is first needed. Synchronous, as a kind's table is small and
 * every caller needs it at once; the parsed value is not kept by the module cache.
 */
export function readDataFile<T>(path: string): T {
  const require = createRequire();
  const file = require.resolve(`../generated/${path}`);
  const data: unknown = require(file);
  delete require.cache[file];
  return data as T;
}

/** A module that is loaded when it is first needed. */
export function requireLazily<T>(name: string): T {
  return createRequire()(name) as T;
}

function createRequire(): NodeJS.Require {
  return process.getBuiltinModule('node:module').createRequire(import.meta.url);
}
