/** The child of the crash test: writes without end, and says of every write that was acknowledged. */
import { openSqliteStorage } from './sqlite.ts';

const path = process.argv[2] ?? '';
const storage = openSqliteStorage(path, { historyLimit: 50 });
let count = 0;

/** Each of several writers owns a few keys; some of its writes delete. */
async function write(writer: number): Promise<void> {
  for (;;) {
    const mine = ++count;
    const key = `/${writer}/${mine % 5}`;
    let deleted = false;
    const entry = await storage.write(key, (head, revision) => {
      deleted = mine % 7 === 0 && head !== undefined;
      return deleted ? { type: 'delete', value: revision } : { type: 'put', value: { revision, mine } };
    });
    process.stdout.write(`${JSON.stringify({ key, revision: entry?.revision, deleted })}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
