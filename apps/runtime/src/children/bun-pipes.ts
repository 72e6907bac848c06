/**
 * Real pipes for the compiled runtime. What child_process calls a pipe is a Unix socket, and opening
 * /dev/stdin, /dev/stdout or /dev/stderr by name fails on a socket; shell scripts do that all the time.
 */
import { closeSync } from 'node:fs';
import type { BunApi } from './bun.ts';
import type { Child, ChildInput, ChildSpec } from './child.ts';
import type { GarbageMeter } from './garbage-meter.ts';
import type { Libc } from './libc.ts';
import { spawnGroup } from './spawn-group.ts';

export interface BunPlatform {
  readonly bun: BunApi;
  readonly libc: Libc;
  readonly garbage: GarbageMeter;
}

export async function launchWithBunPipes(platform: BunPlatform, spec: ChildSpec): Promise<Child> {
  const { libc } = platform;
  const stdin = spec.stdin ? libc.pipe() : undefined;
  const stdout = libc.pipe();
  const stderr = libc.pipe();
  const ours = [stdin?.writeEnd, stdout.readEnd, stderr.readEnd];
  const theirs = [stdin?.readEnd, stdout.writeEnd, stderr.writeEnd];
  try {
    const { pid, exit } = await spawnGroup(spec, [
      stdin?.readEnd ?? 'ignore',
      stdout.writeEnd,
      stderr.writeEnd,
    ]);
    const out = readPipe(platform, stdout.readEnd);
    const err = readPipe(platform, stderr.readEnd);
    const input = stdin && pipeInput(platform, stdin.writeEnd);
    return {
      pid,
      exit,
      stdout: out.chunks,
      stderr: err.chunks,
      input,
      resize: undefined,
      release() {
        out.cancel();
        err.cancel();
        input?.end();
      },
    };
  } catch (err) {
    closeAll(ours);
    throw err;
  } finally {
    closeAll(theirs); // or the pipe would never end: we would hold it open ourselves
  }
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd);
}

interface PipeReader {
  readonly chunks: AsyncIterable<Uint8Array>;
  cancel(): void;
}

function readPipe({ bun, garbage }: BunPlatform, fd: number): PipeReader {
  const reader = bun.file(fd).stream().getReader();
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
        garbage.passed(value.length);
      }
    } finally {
      await reader.cancel();
      closeSync(fd); // the stream was lent the descriptor and leaves it open
    }
  }
  return { chunks: chunks(), cancel: () => void reader.cancel() };
}

function pipeInput({ bun, garbage }: BunPlatform, fd: number): ChildInput {
  const sink = bun.file(fd).writer();
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    try {
      await sink.end();
    } catch {
      // EPIPE: the process went away with bytes unread
    }
    closeSync(fd);
  };
  return {
    async write(bytes) {
      if (closed) return;
      garbage.passed(bytes.length);
      try {
        // Both must be awaited: each can be the promise that rejects when the process is gone.
        await Promise.all([sink.write(bytes), sink.flush()]);
      } catch {
        await close();
      }
    },
    end: () => void close(),
    get isClosed() {
      return closed;
    },
  };
}
