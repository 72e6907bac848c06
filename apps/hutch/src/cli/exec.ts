/** `hutch exec`: one more command in a sandbox that is already there. */
import { Fault, isFault } from '@hutch/base';
import type { DataDir } from '../home/data-dir.ts';
import { type Stdio, tameOutputErrors } from './bridge.ts';
import { connect } from './connect.ts';
import { exitCodeOf, signalExitCode } from './exit-codes.ts';
import { Interrupted, Interrupts } from './interrupt.ts';
import { type ExecOptions, execIn, requireTerminal } from './run.ts';
import { Timings } from './timings.ts';

/** A sandbox that a restarted home is just taking over is ready again within moments. */
const readyWithinMs = 30_000;

export async function exec(
  options: ExecOptions & { readonly name: string; readonly dataDir: DataDir },
  stdio: Stdio,
): Promise<number> {
  requireTerminal(options, stdio);
  tameOutputErrors(stdio);
  using interrupts = new Interrupts();
  try {
    const limits = { signal: interrupts.signal, timeoutMs: readyWithinMs };
    const sandbox = await connect(options.dataDir).sandboxes.connect(options.name, limits);
    return exitCodeOf(await execIn(sandbox, options, stdio, interrupts, new Timings()));
  } catch (err) {
    if (err instanceof Interrupted) return signalExitCode(err.interruptedBy);
    if (isFault(err, 'not-found')) {
      throw new Fault('not-found', `there is no sandbox "${options.name}"; see: hutch ls`, { cause: err });
    }
    throw err;
  }
}
