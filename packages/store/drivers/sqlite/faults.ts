import { StoreFault } from '../../contract.ts';

/** Result codes of SQLite; the low byte of the extended ones. */
const busy = 5;
const locked = 6;
const corrupt = 11;
const full = 13;
const notADatabase = 26;

const restoreHint =
  'Stop the server, restore the newest backup with `sheaf restore BACKUP`, and keep the damaged files for analysis.';

/** Turns what SQLite or the file system threw into a fault with a way out. */
export function toStoreFault(error: unknown, path: string): StoreFault {
  if (error instanceof StoreFault) return error;
  const code = numberOf(error, 'errcode') & 0xff;
  if (code === corrupt || code === notADatabase) return corruptFault(path, describe(error), error);
  if (code === full || textOf(error, 'code') === 'ENOSPC' || textOf(error, 'code') === 'EDQUOT') {
    return new StoreFault('disk-full', `no space left for ${path}`, {
      wayOut: 'Free space on the disk of the data directory; writing goes on by itself.',
      cause: error,
    });
  }
  if (code === busy || code === locked) {
    return new StoreFault('locked', `${path} is in use by another process`, {
      wayOut: 'Stop the other server that uses this data directory, or choose another one with --data-dir.',
      cause: error,
    });
  }
  return new StoreFault('io', `${path}: ${describe(error)}`, {
    wayOut: 'Check the disk and the permissions of the data directory, then start the server again.',
    cause: error,
  });
}

export function corruptFault(path: string, what: string, cause?: unknown): StoreFault {
  return new StoreFault('corrupt', `${path} is damaged: ${what}`, { wayOut: restoreHint, cause });
}

export function newerVersionFault(path: string, found: number, known: number): StoreFault {
  return new StoreFault(
    'newer-version',
    `${path} has format ${found}; this program knows up to ${known}`,
    'Start the newer program that wrote it, or restore a backup made by this version.',
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function numberOf(error: unknown, field: string): number {
  const value: unknown = error instanceof Error ? Reflect.get(error, field) : undefined;
  return typeof value === 'number' ? value : 0;
}

function textOf(error: unknown, field: string): string {
  const value: unknown = error instanceof Error ? Reflect.get(error, field) : undefined;
  return typeof value === 'string' ? value : '';
}
