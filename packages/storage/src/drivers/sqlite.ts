/**
 * One SQLite file, write-ahead log, synced on every commit.
 *
 * `current` holds the entries. `history` holds, for each change, what its key held *before*: SQLite copies that
 * from `current` itself, so a put sends its value once. What a change made of the key is what the next change
 * of that key found, or the entry as it is now; only a deletion has to carry its last value along.
 */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Fault, messageOf } from '@hutch/base';
import type { Commit, Driver, Loaded, Recorded } from '../driver.ts';
import type { Entry, Storage } from '../storage.ts';
import { Store, type StoreOptions } from '../store.ts';

export interface SqliteOptions extends StoreOptions {
  /** The largest size of the file. Writes beyond it fail like writes to a full disk. */
  readonly maxBytes?: number;
}

const schemaVersion = 1;

const schema = `
  CREATE TABLE current (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE history (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, previous TEXT, deleted TEXT);
  PRAGMA user_version = ${schemaVersion};
`;

/** Opens the store in a file, which is made when missing. An `unavailable` fault says why it cannot be used. */
export function openSqliteStorage(path: string, options: SqliteOptions = {}): Storage {
  let driver: Driver | undefined;
  try {
    driver = openDriver(path, options);
    return new Store(driver, options);
  } catch (cause) {
    driver?.close();
    throw new Fault('unavailable', `open store ${path}: ${messageOf(cause)}`, { cause });
  }
}

function openDriver(path: string, { maxBytes }: SqliteOptions): Driver {
  closeSync(openSync(path, 'a', 0o600)); // SQLite would let everybody read what may be secret
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    // Exclusive: a second process on the file would make what we keep in memory untrue, so it is refused.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    // A burst must not leave its log behind for ever.
    db.exec('PRAGMA journal_size_limit = 16777216;');
    prepareSchema(db);
    if (maxBytes !== undefined) limitSize(db, maxBytes);
    return driverOver(db);
  } catch (err) {
    db.close();
    throw err;
  }
}

function prepareSchema(db: DatabaseSync): void {
  const version = pragma(db, 'user_version');
  if (version === 0) {
    db.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
  } else if (version !== schemaVersion) {
    throw new Fault('unsupported', `the file has format ${version}, this program knows ${schemaVersion}`);
  }
}

function limitSize(db: DatabaseSync, maxBytes: number): void {
  const pages = Math.max(1, Math.floor(maxBytes / pragma(db, 'page_size')));
  db.exec(`PRAGMA max_page_count = ${pages}`);
}

function pragma(db: DatabaseSync, name: string): number {
  return db.prepare(`PRAGMA ${name}`).get()?.[name] as number;
}

function driverOver(db: DatabaseSync): Driver {
  const compact = db.prepare('DELETE FROM history WHERE revision < ?');
  // The left join gives the one row also for a key that is new.
  const rememberPut = db.prepare(`
    INSERT INTO history (revision, key, previous)
    SELECT ?1, ?2, current.value FROM (SELECT 1) LEFT JOIN current ON current.key = ?2`);
  const put = db.prepare(`
    INSERT INTO current (key, revision, value) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET revision = ?2, value = ?3`);
  const remove = db.prepare('DELETE FROM current WHERE key = ? RETURNING value');
  const rememberDelete = db.prepare(
    'INSERT INTO history (revision, key, previous, deleted) VALUES (?, ?, ?, ?)',
  );

  const transact = ({ writes, keepHistoryFrom }: Commit) => {
    db.exec('BEGIN IMMEDIATE');
    try {
      if (keepHistoryFrom > 0) compact.run(keepHistoryFrom);
      for (const { event, text } of writes) {
        const { type, key, revision } = event;
        if (type === 'put') {
          rememberPut.run(revision, key);
          put.run(key, revision, text);
        } else {
          // Removed first: a full store has room for the memory of an entry only once the entry is gone.
          const removed = remove.get(key) as { value: string } | undefined;
          rememberDelete.run(revision, key, removed?.value ?? null, text);
        }
      }
      db.exec('COMMIT');
    } catch (err) {
      // Some failures (a full disk among them) have already ended the transaction.
      if (db.isTransaction) db.exec('ROLLBACK');
      throw err;
    }
  };

  return {
    load: () => load(db),
    // On this thread on purpose: a commit of one batch takes less than handing it to another thread and back.
    commit: async (commit) => transact(commit),
    close: () => db.close(),
  };
}

interface HistoryRow {
  readonly revision: number;
  readonly key: string;
  readonly previous: string | null;
  readonly deleted: string | null;
}

function load(db: DatabaseSync): Loaded {
  const entries: Entry[] = [];
  const after = new Map<string, unknown>();
  // BINARY collation compares bytes: for the ASCII keys we have, the order of JavaScript strings.
  for (const row of db.prepare('SELECT key, revision, value FROM current ORDER BY key').iterate()) {
    const { key, revision, value } = row as unknown as { key: string; revision: number; value: string };
    const parsed: unknown = JSON.parse(value);
    entries.push({ key, value: parsed, revision });
    after.set(key, parsed);
  }

  const history: Recorded[] = [];
  for (const row of db.prepare('SELECT * FROM history ORDER BY revision DESC').iterate()) {
    const { revision, key, previous, deleted } = row as unknown as HistoryRow;
    const before: unknown = previous === null ? undefined : JSON.parse(previous);
    const value: unknown = deleted === null ? after.get(key) : JSON.parse(deleted);
    const type = deleted === null ? 'put' : 'delete';
    // What a put brought is told by the next change of its key; what it found is near enough to its size.
    const bytes = (deleted ?? previous)?.length ?? 0;
    history.push({ event: { type, key, value, previous: before, revision }, bytes });
    after.set(key, before);
  }
  return { entries, history: history.reverse() };
}
