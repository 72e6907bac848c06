/**
 * The processes of a rig, and their end.
 *
 * None outlives us, however we end: the kernel kills a component together with the thread that started it, and
 * a small keeper, which notices that our end of a pipe closed, removes the directory. Each is stopped by its pid.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@hutch/base';

/** Puts a command's life in our hands: it is killed when we are gone. */
export const dyingWithUs: readonly string[] = ['setpriv', '--pdeathsig', 'KILL', '--'];

export interface Component extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** Rejects when the process ends before it is told to, with the last lines of its log. Never resolves. */
  readonly failed: Promise<never>;
  /** The end of its log. */
  lastWords(): Promise<string>;
}

export interface ComponentOptions {
  readonly name: string;
  readonly program: string;
  readonly flags: readonly string[];
  /** Its working directory. Its output goes to `<directory>/<name>.log`. */
  readonly directory: string;
}

export async function startComponent(options: ComponentOptions): Promise<Component> {
  const { name, program, flags, directory } = options;
  const logFile = join(directory, `${name}.log`);
  const log = openSync(logFile, 'a');
  let child: ChildProcess;
  try {
    child = spawn(dyingWithUs[0] as string, [...dyingWithUs.slice(1), program, ...flags], {
      cwd: directory,
      stdio: ['ignore', log, log],
      detached: true, // Ctrl-C is for us; we then stop it in order
    });
  } finally {
    closeSync(log);
  }
  await once(child, 'spawn');

  const lastWords = async () => (await readFile(logFile, 'utf8')).trim().split('\n').slice(-15).join('\n');
  let isStopped = false;
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const failed = exited.then(async ([code, signal]) => {
    if (isStopped) return await new Promise<never>(() => {});
    const how = signal ?? `status ${code}`;
    throw new Fault('unavailable', `${name} ended by itself (${how}):\n${await lastWords()}`);
  });
  failed.catch(() => {}); // whoever waits for the component hears of it
  return {
    name,
    pid: child.pid as number,
    failed,
    lastWords,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      child.kill('SIGKILL'); // what it holds is thrown away with its directory: there is nothing to save
      await exited;
    },
  };
}

/** Removes the directory when it is disposed of, or when we die without having done so. */
export async function keepDirectory(directory: string): Promise<AsyncDisposable> {
  // A component that is just being killed may still write a file while we remove: then once more.
  const remove = 'until rm -rf "$1" 2>/dev/null || [ $((n += 1)) -gt 100 ]; do sleep 0.1; done';
  const keeper = spawn('sh', ['-c', `cat >/dev/null; n=0; ${remove}`, 'rig-keeper', directory], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true, // in a group of its own, so that what ends ours leaves it to its work
  });
  await once(keeper, 'spawn');
  return {
    async [Symbol.asyncDispose]() {
      const exited = once(keeper, 'exit');
      keeper.stdin.end();
      await exited;
    },
  };
}
