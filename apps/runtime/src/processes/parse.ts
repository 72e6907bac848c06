/** Turns what arrives from outside into the types of the protocol, or throws an `invalid` fault. */
import { Fault } from '@hutch/base';
import type { OutputRead, SendSignal, StartProcess, TerminalSize } from '@hutch/runtime-protocol';
import { isSignalName } from '../children/signals.ts';

type Fields = Readonly<Record<string, unknown>>;

export function parseStartProcess(body: unknown): StartProcess {
  const { command, env, cwd, stdin, terminal, timeoutMs, lifetime, acknowledge } = fields(body);
  if (!Array.isArray(command) || command.length === 0) throw bad('command is not a list with a program');
  const lifetimes: readonly unknown[] = [undefined, 'attached', 'detached'];
  if (!lifetimes.includes(lifetime)) throw bad('lifetime is neither attached nor detached');
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && Number(timeoutMs) > 0)) {
    throw bad('timeoutMs is not a positive number');
  }
  return withoutAbsent({
    command: command.map((argument) => text('command', argument)),
    env: env === undefined ? undefined : parseEnv(env),
    cwd: cwd === undefined ? undefined : text('cwd', cwd),
    stdin: flag('stdin', stdin),
    terminal: terminal === undefined ? undefined : parseTerminalSize(terminal),
    timeoutMs: timeoutMs as number | undefined,
    lifetime: lifetime as StartProcess['lifetime'],
    acknowledge: flag('acknowledge', acknowledge),
  });
}

export function parseTerminalSize(body: unknown): TerminalSize {
  const { columns, rows } = fields(body);
  for (const side of [columns, rows]) {
    // The kernel keeps them in 16 bits; a larger one would silently become another.
    if (!Number.isInteger(side) || Number(side) < 1 || Number(side) > 0xffff) {
      throw bad('columns and rows are not between 1 and 65535');
    }
  }
  return { columns: columns as number, rows: rows as number };
}

export function parseSendSignal(body: unknown): SendSignal & { readonly signal: NodeJS.Signals } {
  const { signal } = fields(body);
  if (typeof signal !== 'string' || !isSignalName(signal)) throw bad('signal is not the name of one');
  return { signal };
}

export function parseOutputRead(body: unknown): OutputRead {
  const { stdout, stderr } = fields(body);
  return { stdout: offset('stdout', stdout), stderr: offset('stderr', stderr) };
}

/** An offset from a query; absent means the beginning. */
export function parseOffset(name: string, value: string | null): number {
  if (value === null) return 0;
  if (!/^\d{1,16}$/.test(value)) throw bad(`${name} is not an offset`);
  return offset(name, Number(value));
}

function offset(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw bad(`${name} is not an offset`);
  return value as number;
}

function parseEnv(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields(value)).map(([name, content]) => {
      if (name === '' || /[=\0]/.test(name)) throw bad('env holds a name that cannot be one');
      return [name, text(`env ${name}`, content)];
    }),
  );
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad('not a JSON object');
  return value as Fields;
}

function text(what: string, value: unknown): string {
  // The kernel ends strings at NUL: what follows would be dropped without a word.
  if (typeof value !== 'string' || value.includes('\0')) throw bad(`${what} is not text without NUL`);
  return value;
}

function flag(what: string, value: unknown): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') throw bad(`${what} is neither true nor false`);
  return value;
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function withoutAbsent<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Present<T>;
}

function bad(message: string): Fault {
  return new Fault('invalid', message);
}
