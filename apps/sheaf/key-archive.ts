import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyFileName, keyFileText, readKeyFile, withKeysOf } from '@sheaf/apiserver/encryption/index';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import { DirectoryCertificateFiles } from '@sheaf/drivers/system';

/** Everything in the directory of keys and certificates, as one text. `undefined`: there is none. */
export async function archiveKeys(directory: string): Promise<string | undefined> {
  const names = await readdir(directory).catch(() => []);
  if (names.length === 0) return undefined;
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
  );
  return `${JSON.stringify({ files: Object.fromEntries(texts) }, undefined, 2)}\n`;
}

/**
 * Puts back what is missing, so that a new machine is the old server to its clients; what is there stays. Encryption keys are
 * added to those that are there. Returns the names written.
 */
export async function restoreKeys(text: string, directory: string): Promise<string[]> {
  const files = new DirectoryCertificateFiles(directory);
  const written: string[] = [];
  for (const [name, content] of Object.entries(filesOf(text))) {
    const present = await files.read(name);
    if (present !== undefined && name !== keyFileName) continue;
    await files.write(name, name === keyFileName ? mergedKeys(content, present) : content);
    written.push(name);
  }
  return written;
}

/** The restored records may be sealed with any of the keys, or not at all: all are looked at again. */
function mergedKeys(archived: string, present: string | undefined): string {
  const old = readKeyFile(archived);
  const file = present === undefined ? old : withKeysOf(readKeyFile(present), old);
  const names = Object.keys({ ...old.resources, ...file.resources });
  return keyFileText({ ...file, resources: Object.fromEntries(names.map((name) => [name, {}])) });
}

function filesOf(text: string): Record<string, string> {
  const value = JSON.parse(text) as JsonValue;
  const files = isJsonObject(value) ? value['files'] : undefined;
  if (!isJsonObject(files)) throw new Error('the file of keys is not one that `sheaf backup` wrote');
  return Object.fromEntries(
    Object.entries(files).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
