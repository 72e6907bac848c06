/** `hutch up`: a home in this process until it is asked to stop, or in one of its own with `-d`. */
import { closeSync, writeSync } from 'node:fs';
import { aborted, Fault, jsonLog } from '@hutch/base';
import { type DataDir, makeDataDir } from '../home/data-dir.ts';
import { readyFdVariable, startDetached } from '../home/detached.ts';
import { readEndpoint } from '../home/endpoint.ts';
import { lockOwner } from '../home/lock.ts';
import { LogFile } from '../home/log-file.ts';
import { Interrupts } from './interrupt.ts';
import { UsageFault } from './values.ts';

export interface UpFlags {
  readonly detach: boolean;
  readonly verbose: boolean;
  readonly port?: string;
  readonly apiPort?: string;
  readonly env: NodeJS.ProcessEnv;
}

export async function up(dataDir: DataDir, flags: UpFlags): Promise<number> {
  using interrupts = new Interrupts();
  if (flags.detach) {
    if (readEndpoint(dataDir)) throw inUse(dataDir);
    await startDetached(dataDir, { signal: interrupts.signal, args: portArgs(flags), env: flags.env });
    say(`a home is up; its router: ${readEndpoint(dataDir)?.router}, its log: ${dataDir.logFile}`);
    return 0;
  }
  const { startLastingHome } = await import('../home/lasting-home.ts');
  makeDataDir(dataDir);
  const readyFd = flags.env[readyFdVariable];
  const write =
    readyFd === undefined ? (line: string) => process.stderr.write(line) : new LogFile(dataDir.logFile).write;
  const log = jsonLog(write, flags.verbose ? 'debug' : 'info');
  await using home = await startLastingHome({
    dataDir,
    log,
    say,
    routerPort: port('--port', flags.port),
    apiPort: port('--api-port', flags.apiPort),
    signal: interrupts.signal,
  });
  if (!home) throw inUse(dataDir);
  say(`up: router ${home.router}, API ${home.api}, kubeconfig ${dataDir.kubeconfigFile}`);
  tellStarter(readyFd);
  await Promise.race([aborted(interrupts.signal), home.failed]);
  say('stopping');
  return 0;
}

function say(text: string): void {
  process.stderr.write(`hutch: ${text}\n`);
}

function inUse(dataDir: DataDir): Fault {
  const owner = lockOwner(dataDir.lockFile);
  return new Fault(
    'already-exists',
    `data directory ${dataDir.root} is in use by a home with pid ${owner ?? 'unknown'}; stop it with: hutch down --data-dir ${dataDir.root}`,
  );
}

function port(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535)
    throw new UsageFault(`${flag} ${text}: not a port number`);
  return value;
}

function portArgs(flags: UpFlags): string[] {
  return [
    ...(flags.port === undefined ? [] : ['--port', flags.port]),
    ...(flags.apiPort === undefined ? [] : ['--api-port', flags.apiPort]),
  ];
}

/** Whoever started us detached waits on this descriptor for one byte. */
function tellStarter(fd: string | undefined): void {
  if (fd === undefined) return;
  writeSync(Number(fd), '.');
  closeSync(Number(fd));
}
