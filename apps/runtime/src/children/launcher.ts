import { bunApi } from './bun.ts';
import { launchWithBunPipes } from './bun-pipes.ts';
import { launchOnBunTerminal } from './bun-terminal.ts';
import type { Child, ChildSpec } from './child.ts';
import { GarbageMeter } from './garbage-meter.ts';
import { type Libc, loadLibc } from './libc.ts';
import { launchWithNodePipes } from './node-pipes.ts';
import { launchOnNodeTerminal } from './node-terminal.ts';

/** Starts processes on whichever platform this is, and knows which of them are not yet reaped. */
export class Launcher {
  readonly #bun = bunApi();
  readonly #garbage = new GarbageMeter(() => this.#bun?.gc(true));
  readonly #pids = new Set<number>();
  #libc: Promise<Libc> | undefined;

  async launch(spec: ChildSpec): Promise<Child> {
    const child = await this.#start(spec);
    this.own(child.pid, child.exit);
    return child;
  }

  /** Until `gone` settles the platform waits for this process, and nobody else may. */
  own(pid: number, gone: Promise<unknown>): void {
    this.#pids.add(pid);
    void gone.finally(() => this.#pids.delete(pid));
  }

  owns(pid: number): boolean {
    return this.#pids.has(pid);
  }

  /** Undefined on Node. */
  libc(): Promise<Libc> | undefined {
    if (this.#bun) this.#libc ??= loadLibc();
    return this.#libc;
  }

  async #start(spec: ChildSpec): Promise<Child> {
    const { terminal } = spec;
    const libc = await this.libc();
    if (!this.#bun || !libc) return terminal ? launchOnNodeTerminal(spec) : launchWithNodePipes(spec);
    if (terminal) return launchOnBunTerminal(this.#bun, libc, { ...spec, terminal });
    return launchWithBunPipes({ bun: this.#bun, libc, garbage: this.#garbage }, spec);
  }
}
