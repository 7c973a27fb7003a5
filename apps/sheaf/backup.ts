import { createWriteStream } from 'node:fs';
import { access, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type HttpTransportOptions, readKubeconfig } from '@sheaf/client';
import { systemClock } from '@sheaf/drivers/system';
import { openSqliteStore, StoreFault } from '@sheaf/store';
import type { Arguments } from './arguments.ts';
import { backupPath } from './backup-path.ts';
import { archiveKeys } from './key-archive.ts';
import { runShape } from './run-command.ts';

const usage = `Usage: sheaf backup FILE [options]

Copies the store into FILE, also while the server works. Keys and certificates, without which secrets cannot be read
again, are kept apart: they go into FILE.keys. Keep that file as safe as the secrets themselves.

  --data-dir DIR   the data directory of the server
  --without-keys   do not write FILE.keys
`;

/** `sheaf backup FILE`. */
export function backup(args: readonly string[]): Promise<number> {
  const options = { 'without-keys': { type: 'boolean' } } as const;
  return runShape({ name: 'backup', usage, positionals: 1, options, run }, args);
}

async function run({ positionals: [path = ''], flags, dataDir }: Arguments): Promise<number> {
  const file = resolve(path);
  for (const name of [file, `${file}.keys`]) await refuseExisting(name);
  await copyStore(dataDir, file);
  process.stdout.write(`store: ${file}\n`);
  if (flags['without-keys']) {
    process.stdout.write(
      `keys:  not copied; secrets can only be read with those in ${join(dataDir, 'certificates')}\n`,
    );
    return 0;
  }
  const keys = await archiveKeys(join(dataDir, 'certificates'));
  if (keys === undefined) throw new Error(`there are no keys in ${join(dataDir, 'certificates')}`);
  await writeFile(`${file}.keys`, keys, { mode: 0o600, flag: 'wx', flush: true });
  process.stdout.write(`keys:  ${file}.keys (keep it as safe as the secrets themselves)\n`);
  return 0;
}

async function refuseExisting(path: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) throw new StoreFault('io', `${path} exists already`, 'Choose a new name for the backup.');
}

/** A running server is asked for the copy; without one the store is opened here. */
async function copyStore(dataDir: string, file: string): Promise<void> {
  const kubeconfig = await readFile(join(dataDir, 'kubeconfig'), 'utf8').catch(() => undefined);
  const answer = kubeconfig === undefined ? undefined : await ask(readKubeconfig(kubeconfig));
  if (answer) return receive(answer, file);
  await access(join(dataDir, 'store.db')).catch((cause: unknown) => {
    throw new Error(`there is no store in ${dataDir}`, { cause });
  });
  const store = await openSqliteStore({ directory: dataDir, clock: systemClock });
  try {
    await store.backup(file);
  } finally {
    await store.close();
  }
}

/** `undefined`: no server listens. */
function ask({ server, authority, credentials }: HttpTransportOptions): Promise<IncomingMessage | undefined> {
  const identity =
    credentials && 'certificate' in credentials
      ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
      : {};
  const headers =
    credentials && 'token' in credentials ? { authorization: `Bearer ${credentials.token.reveal()}` } : {};
  return new Promise((fulfil, reject) => {
    const outgoing = request(new URL(backupPath, server), {
      ...identity,
      headers,
      ...(authority ? { ca: authority } : {}),
    });
    outgoing.on('response', fulfil);
    outgoing.on('error', (error) =>
      'code' in error && error.code === 'ECONNREFUSED' ? fulfil(undefined) : reject(error),
    );
    outgoing.end();
  });
}

async function receive(answer: IncomingMessage, file: string): Promise<void> {
  if (answer.statusCode !== 200) {
    const text = Buffer.concat(await answer.toArray()).toString('utf8');
    throw new Error(`the server refused (${answer.statusCode}): ${text.trim()}`);
  }
  const partial = `${file}.partial`;
  try {
    // A shorter answer than announced ends in an error.
    await pipeline(answer, createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true }));
    const { size } = await sizeOf(partial);
    if (size !== Number(answer.headers['content-length']))
      throw new Error('the server sent only a part of the copy');
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function sizeOf(path: string): Promise<{ size: number }> {
  const file = await open(path);
  try {
    return await file.stat();
  } finally {
    await file.close();
  }
}
