let digest: string | undefined;

/** A hash of all built-in OpenAPI definitions: documents made from them may be cached as long as it is the same. */
export function openApiDataDigest(): string {
  digest ??= computeDigest();
  return digest;
}

function computeDigest(): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');
  const directory = new URL('../generated/openapi/', import.meta.url);
  const hash = createHash('sha256');
  for (const file of readdirSync(directory).sort()) hash.update(readFileSync(new URL(file, directory)));
  return hash.digest('hex');
}
