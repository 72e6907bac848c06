/** Removes everything a home has on the machine, from its ledger and then by name, whatever state it was left in. */
import { rm } from 'node:fs/promises';
import { type Log, messageOf } from '@hutch/base';
import { requireTools, type Tools } from './command.ts';
import { cgroupsBeginning, removeCgroup } from './containers/cgroups.ts';
import { ConmonRuntime } from './containers/conmon-runtime.ts';
import type { ContainerRuntime } from './containers/runtime.ts';
import { namesIn } from './files.ts';
import { type HomeLayout, homeLayout } from './home.ts';
import { type Holding, holdHomeNetwork, releaseHomeNetwork } from './network/home-network.ts';
import type { HomeNetworkPlan } from './network/plan.ts';
import { removeLink } from './network/pod-network.ts';
import { makeHomeDirectories, readHomeRecord } from './open-home.ts';
import { type LedgerEntry, readLedger } from './pods/ledger.ts';
import { placesOf, type RemovalContext, removeRecordedPod } from './pods/remove-pod.ts';

export interface SweepOptions {
  readonly dataDir: string;
  /** Time for containers to end by themselves after SIGTERM. Zero: they are killed at once. */
  readonly graceMs?: number;
  /** Where else to look for the system tools, in the form of PATH. */
  readonly path?: string | undefined;
  readonly log: Log;
}

export interface SweepReport {
  /** What was there and is gone, for people: `pod default/a`, `link hutch1-2`. */
  readonly removed: readonly string[];
  /** What could not be removed. Sweeping again is safe. */
  readonly failures: readonly string[];
}

/**
 * Idempotent. The home must not be running. Each step goes on after a failure of another; a home whose ledger is gone
 * but whose index is known still loses its links, control groups (with all processes in them) and rules. After a reboot
 * its index may be another home's: then only what the ledger leads to is removed, and nothing by name.
 */
export async function sweepHome(options: SweepOptions): Promise<SweepReport> {
  const home = homeLayout(options.dataDir);
  const network = await readHomeRecord(home, options.log);
  if (!network) {
    await rm(home.root, { recursive: true, force: true }); // nothing was ever made outside of it
    return { removed: [], failures: [] };
  }
  const sweep = new Sweep(home, network, options);
  await sweep.run(options.graceMs ?? 0);
  return sweep;
}

class Sweep implements SweepReport {
  readonly removed: string[] = [];
  readonly failures: string[] = [];
  readonly #home: HomeLayout;
  readonly #network: HomeNetworkPlan;
  readonly #options: SweepOptions;
  readonly #tools: Tools;

  constructor(home: HomeLayout, network: HomeNetworkPlan, options: SweepOptions) {
    this.#home = home;
    this.#network = network;
    this.#options = options;
    this.#tools = requireTools(options.path);
  }

  async run(graceMs: number): Promise<void> {
    await makeHomeDirectories(this.#home);
    const holding = await this.#hold();
    const runtime = this.#openRuntime();
    const isIndexOurs = holding === 'kept' || holding === 'taken';
    const context = { home: this.#home, network: this.#network, isIndexOurs, tools: this.#tools, runtime };
    try {
      const entries = await readLedger(this.#home, this.#options.log);
      if (graceMs > 0) await this.#askToEnd(entries, context, graceMs);
      await Promise.all(entries.map((entry) => this.#removePod(entry, context)));
    } finally {
      runtime.close();
    }
    if (isIndexOurs) await this.#removeByName();
    // while anything is left the index stays ours: the rules go on holding what may still run
    if (isIndexOurs && this.failures.length === 0) await this.#release(holding);
    if (this.failures.length === 0) await rm(this.#home.root, { recursive: true, force: true });
  }

  #openRuntime(): ContainerRuntime {
    const { log } = this.#options;
    const { runc } = this.#tools;
    return new ConmonRuntime({ name: 'runc', program: runc, tools: this.#tools, home: this.#home, log });
  }

  async #step(what: string, work: () => Promise<void>, wasThere = true): Promise<void> {
    try {
      await work();
      if (wasThere) this.removed.push(what);
    } catch (err) {
      this.#fail(what, messageOf(err));
    }
  }

  #fail(what: string, error: string): void {
    this.failures.push(`${what}: ${error}`);
    this.#options.log.warn('sweep step failed', { what, error });
  }

  async #askToEnd(entries: readonly LedgerEntry[], context: RemovalContext, graceMs: number): Promise<void> {
    const { runtime } = context;
    const deadline = AbortSignal.timeout(graceMs);
    const places = (await Promise.all(entries.map(({ uid }) => placesOf(uid, context)))).flat();
    await Promise.all(
      places.map(async (place) => {
        if ((await runtime.look(place)).type !== 'running') return;
        await runtime.kill(place, 'SIGTERM');
        await runtime.wait(place, deadline).catch(() => {}); // its time is up; it is killed next
      }),
    );
  }

  async #removePod(entry: LedgerEntry, context: RemovalContext): Promise<void> {
    const name = entry.name === '' ? entry.uid : `${entry.namespace}/${entry.name}`;
    const failures = await removeRecordedPod(entry, context);
    if (failures.length === 0) this.removed.push(`pod ${name}`);
    else this.#fail(`pod ${name}`, failures.join('; '));
  }

  /** Undefined when it cannot be known: then nothing is removed by name, and the next sweep tries again. */
  async #hold(): Promise<Holding | undefined> {
    try {
      return await holdHomeNetwork(this.#network, this.#options.dataDir, this.#tools);
    } catch (err) {
      this.#fail(`table ${this.#network.table}`, messageOf(err));
      return undefined;
    }
  }

  async #removeByName(): Promise<void> {
    const { linkPrefix } = this.#network;
    const groups = new Set((await cgroupsBeginning(linkPrefix)).map((path) => path.split('/').at(-1) ?? ''));
    for (const group of groups) await this.#step(`control group ${group}`, () => removeCgroup(group));
    for (const link of (await namesIn('/sys/class/net')).filter((name) => name.startsWith(linkPrefix))) {
      await this.#step(`link ${link}`, () => removeLink(link, this.#tools));
    }
  }

  async #release(holding: Holding): Promise<void> {
    const { index, table } = this.#network;
    const wasThere = holding === 'kept'; // else we made it just now
    await this.#step(`table ${table}`, () => releaseHomeNetwork(index, this.#tools), wasThere);
  }
}
