/** A terminal for the compiled runtime. Bun makes it the controlling terminal of a new session. */
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import type { ProcessExited } from '@hutch/runtime-protocol';
import { Bell } from '../bell.ts';
import type { BunApi, BunSubprocess, BunTerminal } from './bun.ts';
import type { Child, ChildInput, ChildSpec } from './child.ts';
import type { Libc } from './libc.ts';
import { PushedOutput, type Valve } from './pushed-output.ts';
import { signalName } from './signals.ts';
import { launchFailure } from './spawn-group.ts';
import { endOfInput } from './terminal-keys.ts';

export function launchOnBunTerminal(
  bun: BunApi,
  libc: Libc,
  spec: ChildSpec & Required<Pick<ChildSpec, 'terminal'>>,
): Child {
  const size = spec.terminal ?? { columns: 80, rows: 24 };
  const drained = new Bell();
  const exit = Promise.withResolvers<ProcessExited>();
  const valve: Valve = { pause: () => hold(true), resume: () => hold(false) };
  const output = new PushedOutput(valve);
  const subprocess = spawnOrFail();
  const device = terminalDevice(subprocess.pid);

  function spawnOrFail(): BunSubprocess {
    try {
      return bun.spawn([spec.program, ...spec.argv.slice(1)], {
        cwd: spec.cwd,
        env: spec.env,
        argv0: spec.argv[0] ?? spec.program,
        terminal: {
          cols: size.columns,
          rows: size.rows,
          data: (_terminal, bytes) => output.push(bytes),
          drain: () => drained.ring(),
          exit: () => output.end(),
        },
        onExit: (_subprocess, code, signal) =>
          exit.resolve(signal === null ? { exitCode: code ?? 0 } : { signal: signalName(signal) }),
      });
    } catch (err) {
      throw launchFailure(spec, err);
    }
  }

  // Bun reads a terminal as fast as it can and has no way to stop; so we let the kernel hold back the
  // writers instead, as Ctrl-S would, but with a flag of its own that no key of the user undoes.
  function hold(isHeld: boolean): void {
    if (device === undefined) return;
    try {
      const fd = openSync(device, constants.O_RDWR | constants.O_NOCTTY);
      libc.holdTerminalOutput(fd, isHeld);
      closeSync(fd); // not kept: while we hold it open the terminal never ends
    } catch {
      // hung up meanwhile: nobody is left to hold back
    }
  }

  let released = false;
  return {
    pid: subprocess.pid,
    stdout: output,
    stderr: undefined,
    input: terminalInput(subprocess.terminal, drained, () => released),
    exit: exit.promise,
    resize: ({ columns, rows }) => subprocess.terminal.resize(columns, rows),
    release() {
      if (released) return;
      released = true;
      output.end();
      drained.ring();
      subprocess.terminal.close();
    },
  };
}

function terminalInput(terminal: BunTerminal, drained: Bell, isClosed: () => boolean): ChildInput {
  const write = async (bytes: Uint8Array) => {
    if (isClosed() || bytes.length === 0) return;
    const through = drained.next; // taken before the write, which may drain at once
    terminal.write(bytes);
    await through;
  };
  return {
    write,
    end: () => void write(endOfInput),
    get isClosed() {
      return isClosed();
    },
  };
}

function terminalDevice(pid: number): string | undefined {
  try {
    const target = readlinkSync(`/proc/${pid}/fd/0`);
    return target.startsWith('/dev/') ? target : undefined;
  } catch {
    return undefined; // already gone
  }
}
