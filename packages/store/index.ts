export * from './contract.ts';
export { MemoryStore, type MemoryStoreOptions } from './drivers/memory/memory-store.ts';
export type { SyncFile } from './drivers/sqlite/durable-files.ts';
export { openSqliteStore, type SqliteStoreOptions } from './drivers/sqlite/open.ts';
export { type RestoreOptions, restoreBackup } from './drivers/sqlite/restore.ts';
export type { RetentionOptions } from './drivers/sqlite/retention.ts';
