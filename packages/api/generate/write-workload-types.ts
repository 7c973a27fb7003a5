/**
 * Writes the types of the built-in kinds that features work with, from `../generated/types`.
 * Usage: node write-workload-types.ts
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TypeFile } from '../builtin/type-file.ts';
import { workloadTypeFiles } from './workload-types.ts';

const source = join(import.meta.dirname, '..', 'generated', 'types');
const out = join(import.meta.dirname, '..', 'workload', 'generated');

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [file, text] of workloadTypeFiles(read)) writeFileSync(join(out, file), text);

function read(groupVersion: string): TypeFile {
  const path = join(source, `${groupVersion.replace('/', '-')}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as TypeFile;
}
