import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';

/** Brings to the disk what was written to an open file. Tests put a slow or failing disk here. */
export type SyncFile = (descriptor: number) => Promise<void>;

/** Waits in a thread of the pool, so that the event loop goes on. */
export function syncFile(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => (error ? reject(error) : resolve()));
  });
}

/** Makes the names of new files in `directory` durable. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
