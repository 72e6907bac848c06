/**
 * Three calls of the C library that neither Node nor Bun offers. Bun only.
 *
 * Loaded at first use: an idle runtime does not pay for it.
 */
export interface Libc {
  /** Both ends are closed in children unless handed over by name. */
  pipe(): { readonly readEnd: number; readonly writeEnd: number };
  /** Takes the exit status of a dead child and forgets it. True when there was one. */
  reap(pid: number): boolean;
  /** Holds back or lets through what is written to a terminal. False when the kernel cannot. */
  holdTerminalOutput(fd: number, hold: boolean): boolean;
}

const closeOnExec = 0o2000000;
const doNotWait = 1;
const outputOff = 0;
const outputOn = 1;

export async function loadLibc(): Promise<Libc> {
  const { dlopen, ptr } = await import('bun:ffi');
  const { symbols } = dlopen('libc.so.6', {
    pipe2: { args: ['ptr', 'i32'], returns: 'i32' },
    waitpid: { args: ['i32', 'ptr', 'i32'], returns: 'i32' },
    tcflow: { args: ['i32', 'i32'], returns: 'i32' },
  });
  const call = (name: string, ...args: number[]): number => symbols[name]?.(...args) ?? -1;
  const status = new Int32Array(1);
  return {
    pipe() {
      const ends = new Int32Array(2);
      if (call('pipe2', ptr(ends), closeOnExec) !== 0) throw new Error('open a pipe for a process');
      const [readEnd = -1, writeEnd = -1] = ends;
      return { readEnd, writeEnd };
    },
    reap: (pid) => call('waitpid', pid, ptr(status), doNotWait) === pid,
    holdTerminalOutput: (fd, hold) => call('tcflow', fd, hold ? outputOff : outputOn) === 0,
  };
}
