/** What a power cut or a bad disk does to the write-ahead log. */
import { open, stat } from 'node:fs/promises';

const frameBytes = 4096 + 24;

/** A write that was under way: the beginning of a frame, or nonsense, after what is complete. */
export async function tearTail(store: string, random: () => number): Promise<void> {
  const log = `${store}-wal`;
  const { size } = await stat(log);
  const length = 1 + Math.floor(random() * frameBytes * 2);
  await using file = await open(log, 'r+');
  const torn = Buffer.alloc(length, random() < 0.5 ? 0 : 0xa5);
  if (random() < 0.5 && size > frameBytes)
    await file.read(torn, 0, Math.min(length, frameBytes), size - frameBytes);
  await file.write(torn, 0, length, size);
}

/** The log ends early. */
export async function cutLog(store: string, random: () => number): Promise<void> {
  const log = `${store}-wal`;
  const { size } = await stat(log);
  await using file = await open(log, 'r+');
  await file.truncate(Math.floor(random() * size));
}

/** A few bytes somewhere in it are others. */
export async function garbleLog(store: string, random: () => number): Promise<void> {
  const log = `${store}-wal`;
  const { size } = await stat(log);
  await using file = await open(log, 'r+');
  const nonsense = Buffer.from(Array.from({ length: 16 }, () => Math.floor(random() * 256)));
  await file.write(nonsense, 0, nonsense.length, Math.floor(random() * Math.max(1, size - nonsense.length)));
}
