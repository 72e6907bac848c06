/** A terminal on Node, for development and tests; the compiled runtime uses bun-terminal.ts. */
import type { Readable } from 'node:stream';
import type { ProcessExited } from '@hutch/runtime-protocol';
import { Bell } from '../bell.ts';
import type { Child, ChildSpec } from './child.ts';
import { PushedOutput } from './pushed-output.ts';
import { signalName } from './signals.ts';
import { launchFailure } from './spawn-group.ts';
import { endOfInput } from './terminal-keys.ts';

export async function launchOnNodeTerminal(spec: ChildSpec): Promise<Child> {
  const zigpty = await import('zigpty'); // a native addon: only when a terminal is asked for
  const { promise: exit, resolve } = Promise.withResolvers<ProcessExited>();
  const { columns: cols = 80, rows = 24 } = spec.terminal ?? {};
  const drained = new Bell();
  // Its plain mode stops reading when the process exits and loses the end; this one reads on, but can be
  // paused only through the stream it keeps to itself.
  const terminal = new zigpty.Terminal({
    cols,
    rows,
    data: (_terminal, bytes) => output.push(bytes),
    exit: () => output.end(),
    drain: () => drained.ring(),
  });
  const stream = () => (terminal as unknown as { readonly _readable?: Readable })._readable;
  const output = new PushedOutput({ pause: () => stream()?.pause(), resume: () => stream()?.resume() });

  const { program, argv, cwd, env } = spec;
  const onExit = (exitCode: number, signal: number) =>
    resolve(signal ? { signal: signalName(signal) } : { exitCode });
  let pid: number;
  try {
    ({ pid } = zigpty.spawn(program, argv.slice(1), { cols, rows, cwd, env: { ...env }, terminal, onExit }));
  } catch (err) {
    terminal.close();
    throw launchFailure(spec, err);
  }

  let released = false;
  const write = async (bytes: Uint8Array) => {
    if (released || bytes.length === 0) return;
    const through = drained.next;
    terminal.write(bytes);
    await through;
  };
  return {
    pid,
    stdout: output,
    stderr: undefined,
    input: {
      write,
      end: () => void write(endOfInput),
      get isClosed() {
        return released;
      },
    },
    exit,
    resize: (size) => terminal.resize(size.columns, size.rows),
    release() {
      if (released) return;
      released = true;
      output.end();
      drained.ring();
      terminal.close();
    },
  };
}
