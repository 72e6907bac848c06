/**
 * The runtime inside a sandbox: composition root and PID 1.
 *
 * It listens, then starts the command if one was given. SIGTERM and SIGINT are passed on to all processes; with a
 * command the runtime then ends as the command does, else as soon as its processes are gone, and after
 * `stopMs` at the latest.
 */
import { isFault, jsonLog, messageOf, pause } from '@hutch/base';
import { LaunchFailure } from './children/child.ts';
import { Launcher } from './children/launcher.ts';
import { loadConfig } from './config.ts';
import { listen, runtimeServer } from './http/server.ts';
import { startMainCommand } from './init/main-command.ts';
import { reapOrphans } from './init/reaper.ts';
import { ProcessTable } from './processes/process-table.ts';

/** A stopping container must not wait for its grace period because of a process that ignores SIGTERM. */
const stopMs = 500;

async function serve(argv: readonly string[]): Promise<number> {
  const config = loadConfig(argv);
  const log = jsonLog((line) => void process.stderr.write(line));
  const launcher = new Launcher();
  const table = new ProcessTable(launcher, process.env);
  const stop = Promise.withResolvers<number>();

  if (process.pid === 1) reapOrphans(launcher, log);
  // Before the port is open: as PID 1 a signal without a handler would be ignored by the kernel.
  let passOn = (_signal: NodeJS.Signals): void => {
    void Promise.race([table.allEnded(), pause(stopMs)]).then(() => stop.resolve(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      for (const managed of table.running) managed.signalIfRunning(signal);
      passOn(signal);
    });
  }

  await listen(runtimeServer(table, log), { port: config.port });
  if (config.command.length > 0) {
    const main = await startMainCommand(launcher, config.command);
    passOn = main.forward;
    void main.exitStatus.then(stop.resolve);
  }
  return stop.promise;
}

function exitStatusOf(err: unknown): number {
  if (err instanceof LaunchFailure) return err.reason === 'not-found' ? 127 : 126;
  return isFault(err, 'invalid') ? 2 : 1;
}

serve(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (err: unknown) => {
    process.stderr.write(`hutch-runtime: ${messageOf(err)}\n`);
    process.exit(exitStatusOf(err));
  },
);
