/** The template's own command: what the container would run if the runtime were not there. */

import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Launcher } from '../children/launcher.ts';
import { checkDirectory, resolveProgram } from '../children/resolve-program.ts';
import { trySignalGroup } from '../children/signals.ts';
import { spawnGroup } from '../children/spawn-group.ts';

export interface MainCommand {
  /** As a shell tells it: 128 and the number for a death by signal. */
  readonly exitStatus: Promise<number>;
  forward(signal: NodeJS.Signals): void;
}

/** Throws a `LaunchFailure` when there is no such program. Its streams are the runtime's own. */
export async function startMainCommand(launcher: Launcher, command: readonly string[]): Promise<MainCommand> {
  const cwd = resolve('.');
  await checkDirectory(cwd);
  const program = await resolveProgram(command[0] ?? '', process.env.PATH, cwd);
  const spec = {
    program,
    argv: command,
    env: { ...process.env } as Record<string, string>,
    cwd,
    stdin: true,
  };
  const { pid, exit } = await spawnGroup(spec, 'inherit');
  launcher.own(pid, exit);
  return {
    exitStatus: exit.then(({ exitCode, signal }) =>
      signal ? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0) : (exitCode ?? 0),
    ),
    forward: (signal) => trySignalGroup(pid, signal),
  };
}
