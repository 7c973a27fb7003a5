import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, type Logger, silentLogger } from '@sheaf/base';
import type { Store } from '../../contract.ts';
import { RevisionLog } from '../../log/revision-log.ts';
import { AcknowledgedMark } from './acknowledged-mark.ts';
import { closeQuietly, databaseName, markName, openDatabase } from './connection.ts';
import { type SyncFile, syncFile } from './durable-files.ts';
import { corruptFault, toStoreFault } from './faults.ts';
import { type LoadedLog, loadLog } from './load.ts';
import { Retention, type RetentionOptions } from './retention.ts';
import { ensureSchema } from './schema.ts';
import { type RecentLimits, SqliteJournal } from './sqlite-journal.ts';
import { Verification } from './verification.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

export interface SqliteStoreOptions {
  /** The data directory; created if missing. Held by one process at a time. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly retention?: RetentionOptions;
  /** The newest history is also kept in memory, up to this much. 2048 changes and 2 MiB if absent. */
  readonly recent?: RecentLimits;
  /** How written files are brought to the disk. */
  readonly sync?: SyncFile;
}

/**
 * Opens the store of a data directory, creating it if there is none.
 * @throws StoreFault locked, corrupt, newer-version, disk-full, io
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = join(options.directory, databaseName);
  const database = openDatabase(options.directory);
  let mark: AcknowledgedMark | undefined;
  let log: WriteAheadLog | undefined;
  try {
    ensureSchema(database);
    mark = new AcknowledgedMark(join(options.directory, markName));
    log = new WriteAheadLog(database, { path, sync: options.sync ?? syncFile });
    const loaded = loadLog(database, path);
    checkMark(loaded, mark, path);
    // An earlier process may have been ended between writing and syncing: what is shown from now on is durable.
    await log.sync();
    mark.write(loaded.revision);
    return assemble({ options, database, mark, log, loaded });
  } catch (error) {
    closeQuietly(database);
    log?.closeFiles();
    mark?.close();
    throw toStoreFault(error, path);
  }
}

interface Parts {
  readonly options: SqliteStoreOptions;
  readonly database: DatabaseSync;
  readonly mark: AcknowledgedMark;
  readonly log: WriteAheadLog;
  readonly loaded: LoadedLog;
}

function assemble({ options, database, mark, log, loaded }: Parts): Store {
  const logger = options.logger ?? silentLogger;
  const { clock, directory } = options;
  const recent = options.recent ?? { changes: 2048, bytes: 2 << 20 };
  const journal = new SqliteJournal({ database, directory, loaded, mark, log, clock, logger, recent });
  const { compacted, swept } = loaded.state;
  const { revision, historyBytes, revisions } = loaded;
  const state = { revision, compacted, swept, historyBytes, revisions, records: loaded.records };
  const retention = new Retention({ journal, clock, logger, ...options.retention });
  const verification = new Verification({ journal, clock, logger });
  const onClose = (): void => {
    retention.dispose();
    verification.dispose();
  };
  const store = new RevisionLog({ journal, state, logger, onClose });
  retention.start(store);
  verification.start(loaded.revision);
  return store;
}

function checkMark(loaded: LoadedLog, mark: AcknowledgedMark, path: string): void {
  if (mark.revision <= loaded.revision) return;
  throw corruptFault(path, `it ends at revision ${loaded.revision}, but ${mark.revision} was acknowledged`);
}
