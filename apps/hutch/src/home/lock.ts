/**
 * Who owns a data directory.
 *
 * The lock is SQLite's own lock on an empty file, held by the kernel for this process: it cannot be
 * forgotten by a process that was killed, and two takers can never both have it. The owner's pid stands
 * beside it only for people to read.
 */
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const busy = 5;

export class HomeLock implements Disposable {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Undefined when another living process has it. */
  static tryAcquire(file: string): HomeLock | undefined {
    closeSync(openSync(file, 'a', 0o600)); // SQLite would let others read it, and a reader's lock is a lock
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (err) {
      database.close();
      if ((err as { errcode?: number }).errcode === busy) return undefined;
      throw err;
    }
    writeFileSync(`${file}.owner`, `${process.pid}\n`);
    return new HomeLock(database);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** The pid of the last owner, for a message. */
export function lockOwner(file: string): number | undefined {
  try {
    return Number(readFileSync(`${file}.owner`, 'utf8'));
  } catch {
    return undefined; // it never had one, or was removed while we looked
  }
}
