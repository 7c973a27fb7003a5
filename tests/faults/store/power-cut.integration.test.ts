import assert from 'node:assert/strict';
import { fdatasyncSync, fstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqliteStore } from '@sheaf/store';
import { contentsOf, inDirectory, sequence } from './fault-fixture.ts';
import { systemClock } from './system-clock.ts';

const pageBytes = 4096;

/** What a disk holds of a file: what was synced for sure, the pages written since by chance. */
class CutFile {
  readonly path: string;
  #durable: Buffer;

  constructor(path: string) {
    this.path = path;
    this.#durable = readFileSync(path);
  }

  synced(): void {
    this.#durable = readFileSync(this.path);
  }

  /** The file after a power cut that let each unsynced page through with the chance of `outOf` in ten. */
  afterCut(below: (limit: number) => number, outOf: number): Buffer {
    const now = readFileSync(this.path);
    const length = below(2) === 0 ? now.length : Math.max(this.#durable.length, now.length);
    const image = Buffer.alloc(Math.max(length, this.#durable.length));
    this.#durable.copy(image);
    for (let at = 0; at < now.length; at += pageBytes) {
      if (below(10) < outOf) now.copy(image, at, at, at + pageBytes);
    }
    return image;
  }
}

test('a power cut at any moment loses nothing that was acknowledged', () =>
  inDirectory(async (directory) => {
    const below = sequence(20261121);
    const data = join(directory, 'data');
    const options = { directory: data, clock: systemClock };
    await (await openSqliteStore(options)).close();
    const files = new Map<number, CutFile>();
    const acknowledged = new Map<string, number>();
    let cuts = 0;

    const cut = async (): Promise<void> => {
      const after = join(directory, `cut-${cuts++}`);
      mkdirSync(after);
      const outOf = below(11);
      for (const file of files.values()) {
        writeFileSync(join(after, file.path.slice(data.length + 1)), file.afterCut(below, outOf));
      }
      if (below(2) === 0) writeFileSync(join(after, 'store.mark'), readFileSync(join(data, 'store.mark')));
      const survivor = await openSqliteStore({ directory: after, clock: systemClock });
      for (const [key, revision] of acknowledged) {
        const record = await survivor.get(key);
        assert.ok((record?.revision ?? 0) >= revision, `cut ${cuts}: revision ${revision} of ${key} is lost`);
      }
      const { history, end } = await contentsOf(survivor);
      assert.equal(end, undefined);
      assert.ok(history.every(([, revision], index) => revision === history[0]![1] + index));
      await survivor.close();
    };

    const sync = async (descriptor: number): Promise<void> => {
      if (files.size === 0) {
        for (const name of ['store.db', 'store.db-wal']) {
          files.set(statSync(join(data, name)).ino, new CutFile(join(data, name)));
        }
      }
      const file = files.get(fstatSync(descriptor).ino)!;
      if (below(8) === 0) await cut();
      fdatasyncSync(descriptor);
      file.synced();
      if (below(8) === 0) await cut();
    };

    const store = await openSqliteStore({ ...options, sync });
    const writer = async (name: string): Promise<void> => {
      for (let index = 0, revision = 0; index < 60; index++) {
        const value = Buffer.alloc(below(3) === 0 ? below(90_000) : 500, name);
        revision = await store.commit({ key: name, value, expected: revision });
        acknowledged.set(name, revision);
        if (index % 30 === 29 && name === 'a') void store.compact(revision - 20);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(writer));
    await store.close();
    assert.ok(cuts > 10, `${cuts}`);
  }));
