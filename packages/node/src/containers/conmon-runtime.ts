/**
 * Runs containers with an OCI runtime (runc, or one with the same commands) under conmon.
 *
 * Flow of `create`: a new mount namespace → the overlay root and /sys are mounted in it → conmon takes over and
 * stays for as long as the container lives → conmon runs `runc create` and reports the pid through a pipe.
 * The mounts live and die with conmon's namespace; the machine's own mount table never changes.
 *
 * conmon keeps the output in a file and writes the exit status to the exits directory, so both survive us.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, type FSWatcher, openSync, watch, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Fault, isFault, type Log, messageOf, pause, raceAbort } from '@hutch/base';
import { commandEnvironment, runCommand, type Tools } from '../command.ts';
import { isErrno, namesIn, readIfPresent, readRecord, replaceFile } from '../files.ts';
import type { HomeLayout } from '../home.ts';
import { removeTrees } from '../remove-trees.ts';
import { isInCgroup, removeCgroup } from './cgroups.ts';
import { rootParts } from './root.ts';
import type { ContainerPlace, ContainerPlan, ContainerRuntime, Exit, KillSignal, Sight } from './runtime.ts';

const createTimeoutMs = 60_000;
const maxLogBytes = 64 * 1024 * 1024;
const maxReportBytes = 64 * 1024;
/** How long a killed container may take to be gone. */
const endTimeoutMs = 10_000;
/**
 * How often we look whether a conmon is still there. Ends of containers come as file events; this is only for a
 * conmon that was itself killed and can report nothing.
 */
const careMs = 10_000;

const maxLaunchRounds = 50;
const launchStepMs = 5;

const files = {
  config: 'config.json',
  containerPid: 'container.pid',
  conmonPid: 'conmon.pid',
  started: 'started',
  exit: 'exit.json',
  runtimeLog: 'runtime.log',
  launchLog: 'launch.log',
  outOfMemory: 'oom', // conmon's choice of name
} as const;

/** Everything a container leaves in its directory besides its output and exit status. */
const transient = [
  ...Object.values(files).filter((name) => name !== files.exit && name !== files.started),
  ...Object.values(rootParts),
  'attach',
  'ctl',
  'winsz',
];

// $1 directory, $2 mount, $3 nsenter, $4 place of the root, $5 network namespace, then the command.
// /sys shows the network of whoever mounts it, and only the namespace's owner may: so here, not in the container.
const launchScript = `set -e
cd "$1"
"$2" -t overlay -o lowerdir=${rootParts.lower},upperdir=${rootParts.upper},workdir=${rootParts.work} overlay "$4"
"$3" --net="$5" "$2" -t sysfs -o ro,nosuid,nodev,noexec sysfs "$4/sys"
shift 5
exec "$@"
`;

export interface ConmonRuntimeOptions {
  readonly name: string;
  /** The OCI runtime's program. */
  readonly program: string;
  readonly tools: Tools;
  readonly home: HomeLayout;
  readonly log: Log;
}

interface Waiter {
  readonly place: ContainerPlace;
  readonly settle: (exit: Exit) => void;
  readonly fail: (err: unknown) => void;
}

/** The directories of `home` must exist. */
export class ConmonRuntime implements ContainerRuntime {
  readonly name: string;
  readonly #options: ConmonRuntimeOptions;
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #removals = new Map<string, Promise<void>>();
  readonly #watcher: FSWatcher;
  readonly #care: NodeJS.Timeout;

  constructor(options: ConmonRuntimeOptions) {
    this.name = options.name;
    this.#options = options;
    this.#watcher = watch(options.home.exits, (_, id) => {
      if (id !== null) void this.#settle(id);
    });
    this.#watcher.on('error', (err) => options.log.error('watch for container exits failed', { err }));
    this.#care = setInterval(() => {
      for (const id of this.#waiters.keys()) void this.#settle(id);
    }, careMs);
    this.#care.unref();
  }

  /** Once begun it is seen through, aborted or not: half a container could not be found again to be removed. */
  async create(plan: ContainerPlan, signal: AbortSignal): Promise<{ readonly pid: number }> {
    signal.throwIfAborted();
    const report = await this.#launch(plan);
    const pid = Number(/"pid":\s*(-?\d+)/.exec(report)?.[1] ?? -1);
    if (pid <= 0) throw await this.#createFault(plan, report);
    if (!signal.aborted) return { pid };
    await this.remove(plan);
    throw signal.reason as Error;
  }

  async #launch(plan: ContainerPlan): Promise<string> {
    const { tools } = this.#options;
    writeFileSync(join(plan.directory, files.config), JSON.stringify(plan.spec));
    const script = [plan.directory, tools.mount, tools.nsenter, plan.rootPath, plan.netns];
    const command = [tools.conmon, ...this.#conmonArgs(plan)];
    const args = [
      '--mount',
      '--propagation',
      'slave',
      tools.sh,
      '-c',
      launchScript,
      'launch',
      ...script,
      ...command,
    ];
    const launchLog = openSync(join(plan.directory, files.launchLog), 'w');
    try {
      const child = spawn(tools.unshare, args, {
        detached: true, // a session of its own: a signal to our terminal must not reach containers
        stdio: ['ignore', 'ignore', launchLog, 'pipe'],
        env: { ...commandEnvironment, _OCI_SYNCPIPE: '3' },
      });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      return await readReport(child.stdio[3] as Readable, AbortSignal.timeout(createTimeoutMs));
    } finally {
      closeSync(launchLog);
    }
  }

  #conmonArgs(plan: ContainerPlan): string[] {
    const { home, program } = this.#options;
    return [
      ...['--cid', plan.id, '--cuuid', plan.id, '--name', plan.id],
      ...['--runtime', program, '--runtime-arg', `--root=${home.runtimeState}`],
      ...['--runtime-arg', `--log=${join(plan.directory, files.runtimeLog)}`],
      ...['--runtime-arg', '--log-format=json'],
      ...['--bundle', plan.directory, '--socket-dir-path', home.sockets, '--exit-dir', home.exits],
      ...['--container-pidfile', join(plan.directory, files.containerPid)],
      ...['--conmon-pidfile', join(plan.directory, files.conmonPid)],
      ...['--log-path', `k8s-file:${plan.logPath}`, '--log-size-max', String(maxLogBytes)],
      ...['--no-sync-log', '--no-new-keyring', '--log-level', 'error'],
      ...(plan.hasTerminal ? ['--terminal'] : []),
      ...(plan.hasStdin ? ['--stdin', '--leave-stdin-open'] : []),
    ];
  }

  /** The runtime's own log is JSON; conmon's report of it is not, once a quote is in it. */
  async #createFault(plan: ContainerPlan, report: string): Promise<Fault> {
    const runtimeLog = (await readIfPresent(join(plan.directory, files.runtimeLog))) ?? '';
    const launchLog = (await readIfPresent(join(plan.directory, files.launchLog))) ?? '';
    const said = lastError(runtimeLog) ?? (report.trim() || launchLog.trim() || 'no answer');
    const isHopeless =
      /executable file not found|no such file or directory|permission denied|exec format/i.test(said);
    return new Fault(isHopeless ? 'invalid' : 'internal', `create container ${plan.id}: ${said}`);
  }

  async start(place: ContainerPlace, signal: AbortSignal): Promise<string> {
    await this.#runtime(['start', place.id], signal);
    const startedAt = new Date().toISOString();
    writeFileSync(join(place.directory, files.started), startedAt);
    return startedAt;
  }

  #runtime(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const { program, home } = this.#options;
    return runCommand(program, ['--root', home.runtimeState, ...args], { signal });
  }

  async look(place: ContainerPlace): Promise<Sight> {
    const startedAt = await startOf(place);
    const recorded = await readRecord<Exit>(join(place.directory, files.exit), this.#options.log);
    if (recorded) return { type: 'exited', exit: recorded };
    if (startedAt === undefined) return { type: 'absent' };
    const exit = await this.#reportedExit(place, startedAt);
    if (exit) return { type: 'exited', exit: record(place, exit) };
    const pid = await this.#pid(place);
    // with its first process gone but conmon still there, the report is about to be written
    if (await this.#hasConmon(place)) return { type: 'running', pid, startedAt };
    // It may have ended between the questions.
    const last = (await this.#reportedExit(place, startedAt)) ?? unseenExit(startedAt);
    return { type: 'exited', exit: record(place, last) };
  }

  async #reportedExit({ id, directory }: ContainerPlace, startedAt: string): Promise<Exit | undefined> {
    const path = join(this.#options.home.exits, id);
    const code = await readIfPresent(path);
    if (code === undefined || !/^\d+$/.test(code.trim())) return undefined; // empty: conmon is about to write it
    return {
      exitCode: Number(code),
      isOutOfMemory: (await readIfPresent(join(directory, files.outOfMemory))) !== undefined,
      startedAt,
      finishedAt: (await stat(path)).mtime.toISOString(),
    };
  }

  /** The first process, if it is still the one of this container. */
  async #pid({ id, directory }: ContainerPlace): Promise<number | undefined> {
    const pid = Number((await readIfPresent(join(directory, files.containerPid))) ?? 0);
    return pid > 1 && (await isInCgroup(pid, id)) ? pid : undefined;
  }

  async #hasConmon(place: ContainerPlace): Promise<boolean> {
    return (await this.#conmonPid(place)) !== undefined;
  }

  async #conmonPid({ id, directory }: ContainerPlace): Promise<number | undefined> {
    const pid = Number((await readIfPresent(join(directory, files.conmonPid))) ?? 0);
    const commandLine = pid > 1 ? await readIfPresent(`/proc/${pid}/cmdline`) : undefined;
    return commandLine?.split('\0').includes(id) ? pid : undefined;
  }

  async wait(place: ContainerPlace, signal: AbortSignal): Promise<Exit> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Exit>();
    const waiter: Waiter = { place, settle: resolve, fail: reject };
    const waiters = this.#waiters.get(place.id) ?? new Set();
    this.#waiters.set(place.id, waiters.add(waiter));
    try {
      void this.#settle(place.id); // it may have ended before we began to watch
      return await raceAbort(promise, signal);
    } finally {
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiters.delete(place.id);
    }
  }

  async #settle(id: string): Promise<void> {
    for (const waiter of this.#waiters.get(id) ?? []) {
      try {
        const sight = await this.look(waiter.place);
        if (sight.type === 'exited') waiter.settle(sight.exit);
      } catch (err) {
        waiter.fail(err);
      }
    }
  }

  async kill(place: ContainerPlace, signal: KillSignal): Promise<void> {
    const pid = await this.#pid(place);
    if (pid !== undefined) signalProcess(pid, signal);
  }

  /** Asked twice at once, it is done once: two removals of one container trip over each other. */
  remove(place: ContainerPlace): Promise<void> {
    const underWay = this.#removals.get(place.id);
    if (underWay) return underWay;
    const removal = this.#remove(place).finally(() => this.#removals.delete(place.id));
    this.#removals.set(place.id, removal);
    return removal;
  }

  /**
   * Files last, and only once every process has ended: a living one could put a link in the place of a directory while
   * we remove by path. Before that, steps go on after a failure, and what failed is told together.
   */
  async #remove(place: ContainerPlace): Promise<void> {
    const failures: string[] = [];
    const step = async (work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (err) {
        failures.push(messageOf(err));
      }
    };
    await step(() => this.#endLaunch(place));
    await step(() => this.#end(place));
    await this.#deleteState(place);
    await step(() => removeCgroup(place.id));
    await step(() => this.#endConmon(place));
    if (failures.length === 0) {
      const { exits, sockets, runtimeState } = this.#options.home;
      const paths = [
        ...[exits, sockets, runtimeState].map((directory) => join(directory, place.id)),
        ...transient.map((name) => join(place.directory, name)),
      ];
      await step(() => removeTrees(paths, this.#options.tools));
    }
    if (failures.length > 0)
      throw new Fault('internal', `remove container ${place.id}: ${failures.join('; ')}`);
  }

  /** Not a failure of its own: the state may be damaged after a loss of power. What counts is that the group is gone. */
  async #deleteState({ id }: ContainerPlace): Promise<void> {
    if (!existsSync(join(this.#options.home.runtimeState, id))) return;
    await this.#runtime(['delete', '--force', id]).catch((err: unknown) =>
      this.#options.log.debug('runtime did not delete a container', { id, error: messageOf(err) }),
    );
  }

  /**
   * A launch that an earlier agent began and did not live to see through may be under way this very moment, without pid
   * file or control group. Each of its processes has the container's id on its command line.
   */
  async #endLaunch({ id, directory }: ContainerPlace): Promise<void> {
    if ((await readIfPresent(join(directory, files.started))) !== undefined) return;
    for (let round = 0; round < maxLaunchRounds; round++) {
      const pids = await processesNaming(id);
      if (pids.length === 0) return;
      for (const pid of pids) signalProcess(pid, 'SIGKILL');
      await pause(launchStepMs); // one of them may have been starting the next
    }
    throw new Fault('timeout', `end the launch of container ${id}: its processes do not end`);
  }

  /** Kills it and lets conmon write down how it ended. */
  async #end(place: ContainerPlace): Promise<void> {
    const sight = await this.look(place);
    if (sight.type !== 'running') return;
    await this.kill(place, 'SIGKILL');
    try {
      await this.wait(place, AbortSignal.timeout(endTimeoutMs));
    } catch (err) {
      // the control group is emptied next, whatever held this up
      if (!isFault(err) && !(err instanceof DOMException)) throw err;
    }
  }

  /** It leaves by itself after its container; one that never had a container, or hangs, does not. */
  async #endConmon(place: ContainerPlace): Promise<void> {
    const pid = await this.#conmonPid(place);
    if (pid !== undefined) signalProcess(pid, 'SIGKILL');
  }

  close(): void {
    clearInterval(this.#care);
    this.#watcher.close();
  }
}

/** Undefined when it never started. An empty mark is one whose text a loss of power took; its own time says nearly the same. */
async function startOf({ directory }: ContainerPlace): Promise<string | undefined> {
  const path = join(directory, files.started);
  const text = await readIfPresent(path);
  if (text === undefined || !Number.isNaN(Date.parse(text))) return text;
  return (await stat(path)).mtime.toISOString();
}

function record(place: ContainerPlace, exit: Exit): Exit {
  replaceFile(join(place.directory, files.exit), JSON.stringify(exit));
  return exit;
}

function unseenExit(startedAt: string): Exit {
  return {
    exitCode: 137,
    isOutOfMemory: false,
    startedAt,
    finishedAt: new Date().toISOString(),
    problem: { reason: 'ContainerStatusUnknown', message: 'the container ended while nothing watched it' },
  };
}

async function processesNaming(id: string): Promise<number[]> {
  const pids = (await namesIn('/proc')).map(Number).filter((pid) => pid > 1 && pid !== process.pid);
  const named = await Promise.all(
    pids.map(async (pid) => (await readIfPresent(`/proc/${pid}/cmdline`))?.split('\0').includes(id) ?? false),
  );
  return pids.filter((_, index) => named[index]);
}

function signalProcess(pid: number, signal: KillSignal): void {
  try {
    process.kill(pid, signal);
  } catch (err) {
    if (!isErrno(err, 'ESRCH')) throw err;
  }
}

/** One line, or what came before the end. conmon keeps its end open for life, so we must not wait for that. */
async function readReport(stream: Readable, signal: AbortSignal): Promise<string> {
  let text = '';
  try {
    const lines = (async () => {
      for await (const chunk of stream) {
        text += String(chunk);
        if (text.includes('\n') || text.length > maxReportBytes) return;
      }
    })();
    await raceAbort(lines, signal);
    return text;
  } finally {
    stream.destroy();
  }
}

/** The message of the last line of level error in a JSON log. */
function lastError(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.includes('"error"'));
  try {
    return (JSON.parse(lines.at(-1) ?? '') as { msg?: string }).msg;
  } catch {
    return undefined; // a torn or foreign line; the caller has other sources
  }
}
