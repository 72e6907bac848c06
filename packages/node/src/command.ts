/** The system tools the node drives, found once and run with bounded time and output. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fault, isFault, messageOf } from '@hutch/base';

export interface CommandOptions {
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

const maxOutputBytes = 4 * 1024 * 1024;
const defaultTimeoutMs = 30_000;

// sbin is often missing from a plain user's PATH, and from a service's.
const usualDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The same wherever we were started from; in English, since some failures are told apart by what a tool says. */
export const commandEnvironment = { PATH: usualDirectories.join(':'), LC_ALL: 'C' } as const;

/**
 * Runs a program to its end and returns its standard output. A non-zero exit is an `internal` fault that carries what
 * the program said. On abort or timeout it is killed; the promise settles only when it is gone, so that whoever
 * cleans up after it does not race with it.
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const what = `run ${program} ${args.slice(0, 4).join(' ')}`;
  options.signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: commandEnvironment });
  const onAbort = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', onAbort, { once: true });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  child.stdin.on('error', () => {}); // a program that ends without reading its input tells by its exit status
  child.stdin.end(options.input ?? '');
  try {
    const ended = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signalName) => resolve(code ?? signalName ?? -1));
    });
    if (ended === 0) return stdout();
    options.signal?.throwIfAborted();
    if (timeout.aborted) throw new Fault('timeout', `${what}: no end in time`);
    throw new Fault('internal', `${what}: exit ${ended}: ${stderr().trim()}`);
  } catch (err) {
    if (isFault(err) || signal.aborted) throw err;
    throw new Fault('internal', `${what}: ${messageOf(err)}`, { cause: err }); // it could not be started at all
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < maxOutputBytes) chunks.push(chunk);
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Where a program is, or undefined. `path` is for machines that keep theirs elsewhere, in the form of PATH. */
export function findProgram(name: string, path = ''): string | undefined {
  for (const directory of [...usualDirectories, ...path.split(':').filter((part) => part.startsWith('/'))]) {
    const candidate = join(directory, name);
    if (isExecutableFile(candidate)) return candidate;
  }
  return undefined;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // absent or not ours to run: either way not the one we look for
  }
}

export const toolNames = [
  'runc',
  'conmon',
  'nft',
  'ip',
  'sh',
  'mount',
  'umount',
  'unshare',
  'nsenter',
  'rm',
] as const;
type ToolName = (typeof toolNames)[number];
export type Tools = Readonly<Record<ToolName, string>>;

/** All tools, or one `unavailable` fault that names every missing one. */
export function requireTools(path?: string): Tools {
  const found = toolNames.map((name) => [name, findProgram(name, path)] as const);
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name);
  if (missing.length > 0) {
    throw new Fault('unavailable', `find system tools: ${missing.join(', ')} not installed`);
  }
  return Object.fromEntries(found) as Tools;
}
