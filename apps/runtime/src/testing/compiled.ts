/** Starts the compiled runtime through its own loader, as a sandbox does. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunningRuntime } from './running-runtime.ts';

const root = join(import.meta.dirname, '../../../..');

/** The directory of the compiled runtime, built when it is not up to date. */
export async function compiledRuntime(): Promise<string> {
  await promisify(execFile)(process.execPath, [join(root, 'tools/build/main.ts'), 'runtime']);
  return join(root, 'dist/runtime');
}

export interface CompiledProcess extends RunningRuntime {
  readonly child: ChildProcess;
  peakBytes(): number;
}

/**
 * `launch` gets the runtime's arguments and starts it wherever it wants; `pidOf` finds it there. Resolves when
 * it answers.
 */
export async function startCompiled(
  launch: (args: string[]) => ChildProcess,
  pidOf: (child: ChildProcess) => number | undefined = ({ pid }) => pid,
): Promise<CompiledProcess> {
  const port = await freePort();
  const child = launch(['serve', '--port', String(port)]);
  const gone = once(child, 'exit');
  await answers(port, gone);
  return {
    port,
    child,
    peakBytes: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    async [Symbol.asyncDispose]() {
      const pid = pidOf(child);
      if (pid) process.kill(pid, 'SIGTERM');
      await gone;
    },
  };
}

export function throughLoader(runtime: string, args: readonly string[]): [string, string[]] {
  const lib = join(runtime, 'lib');
  return [join(lib, 'ld.so'), ['--library-path', lib, join(runtime, 'bin/hutch-runtime'), ...args]];
}

export function spawnThroughLoader(runtime: string, args: readonly string[]): ChildProcess {
  const [loader, loaderArgs] = throughLoader(runtime, args);
  return spawn(loader, loaderArgs, { stdio: ['ignore', 'inherit', 'inherit'] });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || !address) throw new Error('find a free port');
  return address.port;
}

/** A program that starts has no event to wait for but its own answer. */
async function answers(port: number, gone: Promise<unknown>): Promise<void> {
  let isGone = false;
  void gone.then(() => {
    isGone = true;
  });
  for (;;) {
    if (isGone) throw new Error('the compiled runtime ended before it answered');
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      if (answer.ok) return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
