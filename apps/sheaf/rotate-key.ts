import { join } from 'node:path';
import { keyFileName, keyFileText, readKeyFile, withNewKey } from '@sheaf/apiserver/encryption/index';
import { DirectoryCertificateFiles, systemRandom } from '@sheaf/drivers/system';
import type { Arguments } from './arguments.ts';
import { runShape } from './run-command.ts';

const usage = `Usage: sheaf rotate-key [options]

Puts a new encryption key before the present ones. From its next start on the server seals with it, and seals
anew what is sealed with another one. The older keys stay: backups and history are sealed with them.

  --data-dir DIR   the data directory of the server
`;

/** `sheaf rotate-key`. */
export function rotateKey(args: readonly string[]): Promise<number> {
  return runShape({ name: 'rotate-key', usage, positionals: 0, run }, args);
}

async function run({ dataDir }: Arguments): Promise<number> {
  const files = new DirectoryCertificateFiles(join(dataDir, 'certificates'));
  const text = await files.read(keyFileName);
  if (text === undefined) throw new Error(`there is no ${keyFileName} in ${join(dataDir, 'certificates')}`);
  const next = withNewKey(readKeyFile(text), systemRandom);
  await files.write(keyFileName, keyFileText(next));
  process.stdout.write(`The new key is ${next.keys[0]?.id}. Restart the server to use it.\n`);
  return 0;
}
