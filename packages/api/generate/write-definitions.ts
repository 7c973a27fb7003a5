/**
 * Writes the definitions of the kinds that are not built in, and the types of their objects.
 * Usage: node write-definitions.ts GO_MODULE_CACHE KUBEVIRT_DEFINITIONS
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitionDigest, expandDefinition } from '../virtualization/expand-definition.ts';
import { committedDefinition } from './definitions/committed-definitions.ts';
import { withOverlay } from './definitions/overlay.ts';
import { publishedDefinitions } from './definitions/published-definitions.ts';
import { SharedSchemas } from './definitions/shared-schemas.ts';
import { typeFiles } from './definitions/type-files.ts';

const [moduleCache, kubevirtFile] = process.argv.slice(2);
if (moduleCache === undefined || kubevirtFile === undefined)
  throw new Error('usage: write-definitions.ts GO_MODULE_CACHE KUBEVIRT_DEFINITIONS');

const types = join(import.meta.dirname, '..', 'virtualization', 'generated');
const out = join(import.meta.dirname, '..', 'generated', 'definitions');
const published = withOverlay(publishedDefinitions(moduleCache, kubevirtFile));
const shared = new SharedSchemas();
const definitions = published.map((definition) => committedDefinition(definition, shared));
const schemas = Object.fromEntries(shared.components());

/** One line a member, so that a change shows in a diff. */
function writeLines(file: string, [open, close]: string, lines: readonly string[]): void {
  writeFileSync(join(out, file), `${open}\n${lines.join(',\n')}\n${close}\n`);
}

for (const folder of [out, types]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
writeLines(
  'schemas.json',
  '{}',
  Object.entries(schemas).map(([name, node]) => `${JSON.stringify(name)}:${JSON.stringify(node)}`),
);
writeLines(
  'kinds.json',
  '[]',
  definitions.map((definition) =>
    JSON.stringify({ ...definition, digest: definitionDigest(expandDefinition(definition, schemas)) }),
  ),
);
for (const [file, text] of typeFiles(published)) writeFileSync(join(types, file), text);
