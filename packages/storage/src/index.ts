// The whole surface of @hutch/storage.
export { openMemoryStorage } from './drivers/memory.ts';
export { openSqliteStorage, type SqliteOptions } from './drivers/sqlite.ts';
export type {
  Decide,
  Decision,
  Entry,
  KeyValue,
  Listing,
  ListOptions,
  Storage,
  StorageEvent,
  WatchOptions,
} from './storage.ts';
export type { StoreOptions } from './store.ts';
