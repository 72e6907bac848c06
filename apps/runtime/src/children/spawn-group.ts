import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { messageOf } from '@hutch/base';
import type { ProcessExited } from '@hutch/runtime-protocol';
import { type ChildSpec, LaunchFailure } from './child.ts';

export interface SpawnedGroup {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exit: Promise<ProcessExited>;
}

/** Starts the program as leader of a new session, so that one signal reaches all it starts. */
export async function spawnGroup(spec: ChildSpec, stdio: StdioOptions): Promise<SpawnedGroup> {
  const child = spawnOrFail(spec, stdio);
  const { promise: exit, resolve } = Promise.withResolvers<ProcessExited>();
  child.once('exit', (code, signal) => resolve(signal ? { signal } : { exitCode: code ?? 0 }));
  const { pid } = child;
  if (pid === undefined) {
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw launchFailure(spec, error);
  }
  child.on('error', () => {}); // a later error is one of sending a message; the exit tells the rest
  return { child, pid, exit };
}

function spawnOrFail(spec: ChildSpec, stdio: StdioOptions): ChildProcess {
  const { program, argv, cwd, env } = spec;
  try {
    return spawn(program, argv.slice(1), { argv0: argv[0] ?? program, cwd, env, detached: true, stdio });
  } catch (err) {
    throw launchFailure(spec, err); // some errors of exec are thrown, others emitted
  }
}

/** The program was there a moment ago, so `not found` now speaks of its interpreter or loader. */
export function launchFailure({ program }: ChildSpec, cause: unknown): LaunchFailure {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  switch (code) {
    case 'ENOENT':
      return new LaunchFailure('not-executable', `start ${program}: its interpreter is missing`, { cause });
    case 'EACCES':
    case 'EPERM':
    case 'ENOEXEC':
    case 'ENOTDIR':
    case 'ETXTBSY':
      return new LaunchFailure('not-executable', `start ${program}: ${messageOf(cause)}`, { cause });
    default:
      return new LaunchFailure('internal', `start ${program}: ${messageOf(cause)}`, { cause });
  }
}
