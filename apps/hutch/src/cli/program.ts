/**
 * The command line: what people may type, and which file does it.
 *
 * Every action is imported only when it is asked for, so that no command pays for another's code.
 */

import { isFault, messageOf } from '@hutch/base';
import { Command, CommanderError, Option } from 'commander';
import { dataDirAt, defaultDataRoot } from '../home/data-dir.ts';
import { version } from '../version.ts';
import { exitCodes, failureExitCode, usageExitCode } from './exit-codes.ts';
import {
  parseCpu,
  parseDataDir,
  parseDurationMs,
  parseEnv,
  parseMemory,
  parseName,
  parseOutput,
  UsageFault,
} from './values.ts';

interface CommonFlags {
  readonly dataDir: string;
}

interface ExecFlags extends CommonFlags {
  readonly env: string[];
  readonly workdir?: string;
  readonly timeout?: string;
  readonly tty: boolean;
}

interface RunFlags extends ExecFlags {
  readonly image?: string;
  readonly name?: string;
  readonly keep: boolean;
  readonly cpu?: string;
  readonly memory?: string;
  readonly timings: boolean;
  readonly output: string;
  readonly verbose: boolean;
}

/** Runs the command line and gives the exit status. Never throws: what went wrong is told on stderr. */
export async function runProgram(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  const program = describe(env, (code) => {
    exitCode = code;
  });
  // Inside a run, only the command's own status may look like success or failure of the command.
  const runsCommand = argv[0] === 'run' || argv[0] === 'exec';
  try {
    await program.parseAsync(argv as string[], { from: 'user' });
    return exitCode;
  } catch (err) {
    if (err instanceof CommanderError) {
      if (err.exitCode === 0) return 0;
      return runsCommand ? exitCodes.hutchFailed : usageExitCode;
    }
    process.stderr.write(`hutch: ${explain(err)}\n`);
    if (runsCommand) return exitCodes.hutchFailed;
    return err instanceof UsageFault ? usageExitCode : failureExitCode;
  }
}

/** Expected failures in one sentence; a bug with its stack, so that it can be reported. */
function explain(err: unknown): string {
  const machine = machineFailure(err);
  if (machine !== undefined) return `${machine} (${messageOf(err)})`;
  if (isFault(err)) return err.message;
  return `unexpected failure, please report it: ${err instanceof Error ? err.stack : messageOf(err)}`;
}

const sqliteFull = 13;

/** What the machine itself refuses, wherever in the chain of causes it stands. */
function machineFailure(err: unknown): string | undefined {
  for (let at = err; at instanceof Error; at = at.cause) {
    const { code, errcode, syscall } = at as Error & { code?: string; errcode?: number; syscall?: string };
    if (code === 'ENOSPC' && syscall === 'write' && !('path' in at))
      return 'could not write the output: no space left';
    if (code === 'ENOTDIR' || code === 'EEXIST')
      return 'the data directory cannot be made there: name another one with --data-dir';
    if (code === 'ENOSPC' || errcode === sqliteFull) {
      return 'no space left on the disk of the data directory: free some, or name another one with --data-dir';
    }
    if (code === 'EROFS') return 'the data directory cannot be written: name another one with --data-dir';
    if (code === 'EACCES' || code === 'EPERM') return 'permission denied: run it as root';
    if (code === 'EMFILE' || code === 'ENFILE') return 'too many open files: raise the limit (ulimit -n)';
  }
  return undefined;
}

function describe(env: NodeJS.ProcessEnv, finish: (exitCode: number) => void): Command {
  const dataDir = () =>
    new Option('--data-dir <directory>', 'where Hutch keeps its state')
      .env('HUTCH_DATA_DIR')
      .argParser(parseDataDir)
      .default(defaultDataRoot(env));
  const output = () => new Option('-o, --output <format>', 'text or json').default('text');
  const collect = (value: string, all: string[]) => [...all, value];
  const withExecFlags = (command: Command) =>
    command
      .addOption(
        new Option('-e, --env <NAME=value>', 'set a variable; NAME alone passes on your own')
          .argParser(collect)
          .default([]),
      )
      .option('-w, --workdir <directory>', 'working directory inside the sandbox')
      .option('--timeout <duration>', 'end the command after this long: 30, 500ms, 2m')
      .option('-t, --tty', 'give the command a terminal', false)
      .addOption(dataDir());
  const execValues = (flags: ExecFlags) => ({
    env: parseEnv(flags.env, env),
    workdir: flags.workdir,
    timeoutMs: flags.timeout === undefined ? undefined : parseDurationMs('--timeout', flags.timeout),
    tty: flags.tty,
    term: env.TERM,
    dataDir: dataDirAt(flags.dataDir),
  });

  const program = new Command('hutch')
    .description('Isolated sandboxes for AI agents and the people who run them.')
    .version(version, '-V, --version')
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(try: hutch --help)')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText(
      'after',
      `
Examples:
  hutch run -- echo hi                 a command in a fresh sandbox, removed afterwards
  echo 41 | hutch run -- python3 -c 'print(int(input())+1)'
  hutch run -t -- bash                 a shell to look around in
  hutch up -d                          keep a home running: sandboxes start faster and stay
  hutch run --keep --name box -- true  a sandbox that stays
  hutch exec box -- ls /workspace`,
    );

  withExecFlags(program.command('run'))
    .description('run a command in a fresh sandbox and remove it afterwards')
    .argument('<command...>', 'the command and its arguments')
    .passThroughOptions()
    .option('--image <reference>', 'image of the sandbox (default: the tools of this machine, read-only)')
    .option('--name <name>', 'name of the sandbox (default: a generated one)')
    .option('--keep', 'leave the sandbox running', false)
    .option('--cpu <amount>', 'CPU limit: 2, 0.5 or 500m')
    .option('--memory <amount>', 'memory limit: 512Mi, 2Gi')
    .option('--timings', 'print on stderr how long each stage took', false)
    .option('--verbose', 'print what the home does on stderr', false)
    .addOption(output())
    .addHelpText(
      'after',
      `
Exit status: the command's own; 128+N when signal N ended it; 124 when --timeout was up;
125 when Hutch itself failed; 126 when the command is not executable; 127 when it was not found.

Examples:
  hutch run -- python3 -c 'print(6*7)'
  hutch run -e GREETING=hello -- sh -c 'echo $GREETING'
  tar c . | hutch run --memory 2Gi --timeout 5m -- sh -c 'tar x && make test'`,
    )
    .action(async (command: string[], flags: RunFlags) => {
      const options = {
        ...execValues(flags),
        command,
        image: flags.image,
        name: flags.name === undefined ? undefined : parseName(flags.name),
        keep: flags.keep,
        cpu: flags.cpu === undefined ? undefined : parseCpu(flags.cpu),
        memory: flags.memory === undefined ? undefined : parseMemory(flags.memory),
        timings: flags.timings,
        verbose: flags.verbose,
        output: parseOutput(flags.output),
        ownEnv: env,
      };
      const { run } = await import('./run.ts');
      finish(await run(options, process));
    });

  withExecFlags(program.command('exec'))
    .description('run a command in a sandbox that is already there')
    .argument('<sandbox>', 'name of the sandbox')
    .argument('<command...>', 'the command and its arguments')
    .passThroughOptions()
    .addHelpText('after', '\nExamples:\n  hutch exec box -- ls -la\n  hutch exec -t box -- bash')
    .action(async (name: string, command: string[], flags: ExecFlags) => {
      // Behind the sandbox's name the parser leaves a `--` where it stands.
      const words = command[0] === '--' ? command.slice(1) : command;
      if (words.length === 0) throw new UsageFault('which command? write: hutch exec SANDBOX -- COMMAND');
      const options = { ...execValues(flags), name: parseName(name), command: words };
      const { exec } = await import('./exec.ts');
      finish(await exec(options, process));
    });

  program
    .command('up')
    .description('run a home on this machine until it is stopped')
    .option('-d, --detach', 'return when it is up and leave it running', false)
    .option('--verbose', 'log every step', false)
    .option('--port <number>', 'port of the router (default: 8080, or a free one)')
    .option('--api-port <number>', 'port of the API server (default: 6443, or a free one)')
    .addOption(dataDir())
    .addHelpText('after', '\nExamples:\n  hutch up\n  hutch up -d && export KUBECONFIG=$(hutch kubeconfig)')
    .action(
      async (flags: CommonFlags & { detach: boolean; verbose: boolean; port?: string; apiPort?: string }) => {
        const { up } = await import('./up.ts');
        finish(await up(dataDirAt(flags.dataDir), { ...flags, env }));
      },
    );

  program
    .command('down')
    .description('stop the home: its sandboxes end, its objects stay for the next start')
    .addOption(dataDir())
    .action(async (flags: CommonFlags) => {
      const { down } = await import('./down.ts');
      finish(await down(dataDirAt(flags.dataDir)));
    });

  program
    .command('ls')
    .description('list the sandboxes of the running home')
    .addOption(output())
    .addOption(dataDir())
    .action(async (flags: CommonFlags & { output: string }) => {
      const { ls } = await import('./sandboxes.ts');
      finish(await ls(dataDirAt(flags.dataDir), parseOutput(flags.output)));
    });

  program
    .command('rm')
    .description('remove sandboxes')
    .argument('<sandbox...>', 'names of the sandboxes')
    .addOption(dataDir())
    .action(async (names: string[], flags: CommonFlags) => {
      const { rm } = await import('./sandboxes.ts');
      finish(await rm(dataDirAt(flags.dataDir), names.map(parseName)));
    });

  program
    .command('logs')
    .description("print what a sandbox's main process wrote")
    .argument('<sandbox>', 'name of the sandbox')
    .option('-f, --follow', 'go on as more is written', false)
    .addOption(dataDir())
    .action(async (name: string, flags: CommonFlags & { follow: boolean }) => {
      const { logs } = await import('./sandboxes.ts');
      finish(await logs(dataDirAt(flags.dataDir), parseName(name), flags));
    });

  program
    .command('kubeconfig')
    .description("print the path of the running home's kubeconfig")
    .addOption(dataDir())
    .action(async (flags: CommonFlags) => {
      const { kubeconfig } = await import('./kubeconfig.ts');
      finish(await kubeconfig(dataDirAt(flags.dataDir)));
    });

  program
    .command('doctor')
    .description('look for what this machine lacks, and say how to mend it')
    .option('--fix', 'mend what can be mended', false)
    .addOption(output())
    .addOption(dataDir())
    .action(async (flags: CommonFlags & { fix: boolean; output: string }) => {
      const { doctor } = await import('./doctor.ts');
      finish(await doctor(dataDirAt(flags.dataDir), { fix: flags.fix, output: parseOutput(flags.output) }));
    });

  return program;
}
