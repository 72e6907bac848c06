/** Starts and kills the server process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface ServerOptions {
  /** A file; without it the store is in memory. */
  readonly store?: string;
  readonly maxBytes?: number;
  /** A directory for certificates: serves HTTPS. */
  readonly certificates?: string;
  /** Put before the command: a tracer, for one. */
  readonly under?: readonly string[];
}

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly ca: string | undefined;
  readonly token: string;
  /** Of the server itself, also when it runs under another program. */
  readonly pid: number;
  /** At once, as a power cut would; resolves when the process is gone. */
  kill(): Promise<void>;
}

const token = 'only-for-tests';
const program = join(import.meta.dirname, 'server-process.ts');

export async function startServer({
  store,
  maxBytes,
  certificates,
  under = [],
}: ServerOptions): Promise<ServerProcess> {
  const flags = [
    ...(store === undefined ? [] : [`--store=${store}`]),
    `--token=${token}`,
    ...(maxBytes === undefined ? [] : [`--max-bytes=${maxBytes}`]),
    ...(certificates === undefined ? [] : [`--certificates=${certificates}`]),
  ];
  const [command = '', ...args] = [...under, process.execPath, program, ...flags];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  const words = lastWords(child);
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const first = await Promise.race([line, ended.then(() => undefined)]);
  if (!first) throw new Error(`the server on ${store ?? 'memory'} ended at its start: ${words()}`);

  const { url, ca } = JSON.parse(first[0]) as { url: string; ca?: string };
  const pid = under.length === 0 ? (child.pid as number) : await onlyChildOf(child.pid as number);
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGKILL');
    await ended;
  };
  return { url, ca, token, pid, kill, [Symbol.asyncDispose]: kill };
}

/** What it said before it failed; bounded. */
function lastWords({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text.trim();
}

async function onlyChildOf(pid: number): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const child = Number(text.trim().split(' ')[0]);
  if (!(child > 0)) throw new Error(`process ${pid} has no child: ${text}`);
  return child;
}
