import { resolve } from 'node:path';
import { Fault } from '@hutch/base';
import { detachedGraceMs, type StartProcess } from '@hutch/runtime-protocol';
import type { Launcher } from '../children/launcher.ts';
import { checkDirectory, resolveProgram } from '../children/resolve-program.ts';
import { type EndedLimits, EndedProcesses } from './ended-processes.ts';
import { ManagedProcess } from './managed-process.ts';

export interface TableLimits extends EndedLimits {
  readonly maxRunning: number;
  readonly windowBytes: number;
  readonly graceMs: number;
}

const defaultLimits: TableLimits = {
  maxRunning: 256,
  windowBytes: 4 << 20,
  graceMs: detachedGraceMs,
  maxEnded: 64,
  maxEndedBytes: 16 << 20,
  keepEndedMs: 5 * 60_000,
};

/** Every process this runtime started and still knows. Bounded in number, memory and time. */
export class ProcessTable {
  readonly #launcher: Launcher;
  readonly #limits: TableLimits;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Map<string, ManagedProcess>();
  readonly #ended: EndedProcesses;
  #starting = 0;

  constructor(
    launcher: Launcher,
    env: Readonly<Record<string, string | undefined>>,
    limits: Partial<TableLimits> = {},
  ) {
    this.#launcher = launcher;
    this.#env = definedOnly(env);
    this.#limits = { ...defaultLimits, ...limits };
    this.#ended = new EndedProcesses(this.#limits);
  }

  /** Throws a `LaunchFailure` when there is no such program or directory. */
  async start(request: StartProcess): Promise<ManagedProcess> {
    if (this.#running.size + this.#starting >= this.#limits.maxRunning) {
      throw new Fault('too-many-requests', `${this.#limits.maxRunning} processes are running already`);
    }
    this.#starting += 1;
    try {
      return await this.#start(request);
    } finally {
      this.#starting -= 1;
    }
  }

  async #start(request: StartProcess): Promise<ManagedProcess> {
    const { command, terminal } = request;
    const env: Record<string, string> = {
      ...(terminal ? { TERM: 'xterm-256color' } : {}),
      ...this.#env,
      ...request.env,
    };
    const cwd = resolve(request.cwd ?? '.');
    await checkDirectory(cwd);
    const program = await resolveProgram(command[0] ?? '', env.PATH, cwd);
    const child = await this.#launcher.launch({
      program,
      argv: command,
      env,
      cwd,
      stdin: request.stdin ?? false,
      terminal,
    });
    const managed = new ManagedProcess(crypto.randomUUID(), child, {
      windowBytes: this.#limits.windowBytes,
      graceMs: this.#limits.graceMs,
      lifetime: request.lifetime ?? 'attached',
      acknowledge: request.acknowledge ?? false,
      timeoutMs: request.timeoutMs,
    });
    this.#running.set(managed.id, managed);
    void managed.ended.then(() => {
      this.#running.delete(managed.id);
      this.#ended.add(managed);
    });
    return managed;
  }

  get(id: string): ManagedProcess {
    const found = this.#running.get(id) ?? this.#ended.get(id);
    if (!found) throw new Fault('not-found', `no process ${id}`);
    return found;
  }

  get running(): ManagedProcess[] {
    return [...this.#running.values()];
  }

  /** Resolves when no process is left running. */
  async allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.running.map(({ ended }) => ended));
  }
}

function definedOnly(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) kept[name] = value;
  return kept;
}
