/**
 * Pipes on Node. They are Unix sockets there, so a program that opens /dev/stderr by name fails; the compiled
 * runtime has real pipes (bun-pipes.ts). Node serves for development and tests.
 */
import type { Readable, Writable } from 'node:stream';
import type { Child, ChildInput, ChildSpec } from './child.ts';
import { spawnGroup } from './spawn-group.ts';

export async function launchWithNodePipes(spec: ChildSpec): Promise<Child> {
  const { child, pid, exit } = await spawnGroup(spec, [spec.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error(`start ${spec.program}: no pipes`);
  return {
    pid,
    exit,
    stdout: chunks(stdout),
    stderr: chunks(stderr),
    input: stdin ? streamInput(stdin) : undefined,
    resize: undefined,
    release() {
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    },
  };
}

async function* chunks(stream: Readable): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (err) {
    if (!stream.destroyed) throw err; // destroyed by release: the end, not a failure
  }
}

function streamInput(stream: Writable): ChildInput {
  stream.on('error', () => {}); // EPIPE: the process no longer reads, which `isClosed` tells
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (stream.destroyed || stream.writableEnded || stream.write(bytes)) return resolve();
        const done = () => {
          stream.off('drain', done).off('close', done);
          resolve();
        };
        stream.on('drain', done).on('close', done);
      }),
    end: () => void stream.end(),
    get isClosed() {
      return stream.destroyed || stream.writableEnded;
    },
  };
}
