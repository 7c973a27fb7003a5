import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the maker of the bundles tells the host that loads them. */
export interface OfflineSource {
  /** Gone, when the bundles are loaded. */
  readonly httpRepository: string;
  readonly thirdValues: string;
}

export const ociRepository = 'oci://registry.example.org/charts';

export async function writeSource(directory: string, source: OfflineSource): Promise<void> {
  await writeFile(join(directory, 'source.json'), JSON.stringify(source));
}

export async function readSource(directory: string): Promise<OfflineSource> {
  return JSON.parse(await readFile(join(directory, 'source.json'), 'utf8')) as OfflineSource;
}
