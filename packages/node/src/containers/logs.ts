/** Reads a container's output back from the file conmon writes: `TIME STREAM F|P TEXT` a line. */
import { watch } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Fault } from '@hutch/base';
import { isErrno } from '../files.ts';

export interface LogOptions {
  /** Go on until the container has ended. */
  readonly follow?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly sinceTime?: Date | undefined;
  readonly timestamps?: boolean | undefined;
  readonly limitBytes?: number | undefined;
}

export interface LogSource {
  readonly path: string;
  /** Aborted when the container has ended and nothing more will be written. */
  readonly ended: AbortSignal;
}

const chunkBytes = 64 * 1024;
/** conmon cuts output into pieces far smaller than this. */
const maxLineBytes = 1024 * 1024;
/** Enough for the time, stream and tag of a line. */
const headBytes = 128;
const newline = 0x0a;

export interface LogLine {
  readonly time: string;
  readonly isPartial: boolean;
  readonly text: Uint8Array;
}

/** Undefined for a line that is not of this format: the end of a file that is still being written, or damage. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  const third = line.indexOf(' ', second + 1);
  if (first < 0 || second < 0) return undefined;
  const tag = line.toString('latin1', second + 1, third < 0 ? line.length : third);
  if (tag !== 'F' && tag !== 'P') return undefined;
  return {
    time: line.toString('latin1', 0, first),
    isPartial: tag === 'P',
    text: third < 0 ? new Uint8Array() : line.subarray(third + 1),
  };
}

/** Chunks of output, as many as the reader asks for and no more. Ends quietly on abort. */
export async function* readLog(
  source: LogSource,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  let isMiddle = false;
  for await (const raw of rawLines(source, options, signal)) {
    const line = parseLogLine(raw);
    if (!line) continue;
    if (options.sinceTime && new Date(line.time) < options.sinceTime) continue;
    const prefix = options.timestamps && !isMiddle ? `${line.time} ` : '';
    isMiddle = line.isPartial;
    const bytes = Buffer.concat([Buffer.from(prefix), line.text, Buffer.from(line.isPartial ? '' : '\n')]);
    if (bytes.length > left) {
      yield bytes.subarray(0, left);
      return;
    }
    left -= bytes.length;
    yield bytes;
  }
}

async function* rawLines(
  source: LogSource,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let file = await openLog(source.path);
  /** The file that has taken the place of `file`, of which there may still be something to read. */
  let next: FileHandle | undefined;
  using changes = watchFile(source.path, AbortSignal.any([signal, source.ended]));
  try {
    let position = options.tailLines === undefined ? 0 : await tailOffset(file, options.tailLines);
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      if (signal.aborted) return;
      const isLast = !options.follow || source.ended.aborted; // asked before reading: what follows is complete
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
      position += bytesRead;
      if (bytesRead > 0) {
        rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        let start = 0;
        for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline, start)) {
          yield rest.subarray(start, end);
          start = end + 1;
        }
        rest = rest.subarray(start);
        if (rest.length > maxLineBytes) throw new Fault('too-large', `read log ${source.path}: endless line`);
        continue;
      }
      if (next) {
        await file.close();
        [file, next] = [next, undefined];
        position = 0;
        rest = Buffer.alloc(0); // lines do not go on in another file
        continue;
      }
      if (!options.follow) return;
      next = await replacementOf(file, source.path);
      if (next) continue; // nothing more is written to the old one, but something may have been since we read it
      if (isLast) return;
      await changes.next();
    }
  } finally {
    await Promise.all([file.close(), next?.close()]);
  }
}

async function openLog(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (err) {
    if (isErrno(err, 'ENOENT'))
      throw new Fault('not-found', `read log ${path}: no output yet`, { cause: err });
    throw err;
  }
}

/** conmon puts a new file in place when the old one has reached its limit. Undefined too while there is none at all. */
async function replacementOf(file: FileHandle, path: string): Promise<FileHandle | undefined> {
  try {
    const [own, current] = await Promise.all([file.stat(), stat(path)]);
    return own.ino === current.ino ? undefined : await open(path, 'r');
  } catch (err) {
    if (isErrno(err, 'ENOENT')) return undefined;
    throw err;
  }
}

/**
 * Where the last `lines` lines begin, found from the end. A line that was written in pieces is one: it ends with the piece
 * that is whole, or, if it is the last, has not ended yet.
 */
async function tailOffset(file: FileHandle, lines: number): Promise<number> {
  let position = (await file.stat()).size;
  let found = 0;
  let end = -1; // behind the piece that begins where we are looking
  while (position > 0) {
    const size = Math.min(chunkBytes, position);
    position -= size;
    // beyond what is searched, so that the head of a piece is never cut
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(size + headBytes),
      0,
      size + headBytes,
      position,
    );
    for (let start = size; start >= 0; start--) {
      const isStart = start === 0 ? position === 0 : buffer[start - 1] === newline;
      if (!isStart) continue;
      if (end >= 0) {
        const head = buffer.subarray(start, Math.min(bytesRead, start + headBytes, end - position - 1));
        const piece = parseLogLine(head);
        if (piece && !(piece.isPartial && found > 0) && found++ === lines) return end;
      }
      end = position + start;
    }
  }
  return 0;
}

interface FileChanges extends Disposable {
  /** Resolves after the next change, or at once when one happened since the last call or the signal aborted. */
  next(): Promise<void>;
}

function watchFile(path: string, signal: AbortSignal): FileChanges {
  let isDirty = false;
  let wake = () => {};
  const notice = () => {
    isDirty = true;
    wake();
  };
  // the directory, because the file itself may be replaced by another of its name
  const watcher = watch(dirname(path), (_, name) => {
    if (name === basename(path)) notice();
  });
  watcher.on('error', notice);
  signal.addEventListener('abort', notice, { once: true });
  return {
    next: async () => {
      if (!isDirty && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isDirty = false;
    },
    [Symbol.dispose]: () => {
      watcher.close();
      signal.removeEventListener('abort', notice);
    },
  };
}
