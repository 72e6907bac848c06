/** Removes everything a home has on the machine, from its ledger and then by name, whatever state it was left in. */
import { existsSync } from 'node:fs';
import { type Log, messageOf } from '@hutch/base';
import { requireTools, type Tools } from './command.ts';
import { cgroupsBeginning, removeCgroup } from './containers/cgroups.ts';
import { ConmonRuntime } from './containers/conmon-runtime.ts';
import type { ContainerRuntime } from './containers/runtime.ts';
import { namesIn } from './files.ts';
import { type HomeLayout, homeLayout } from './home.ts';
import { type Holding, holdHomeNetwork, releaseHomeNetwork } from './network/home-network.ts';
import { removeLink } from './network/pod-network.ts';
import { type HomeNames, makeHomeDirectories, readHomeNames } from './open-home.ts';
import { type LedgerEntry, readLedger } from './pods/ledger.ts';
import { placesOf, type RemovalContext, removeRecordedPod } from './pods/remove-pod.ts';
import { removeTrees } from './remove-trees.ts';

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
 * but whose names are known still loses its links, control groups (with all processes in them) and rules. After a reboot
 * its index may be another home's: then no link and no rule is removed by name.
 */
export async function sweepHome(options: SweepOptions): Promise<SweepReport> {
  const home = homeLayout(options.dataDir);
  const names = await readHomeNames(home, options.log);
  if (!names && !existsSync(home.root)) return { removed: [], failures: [] };
  const tools = requireTools(options.path);
  if (!names) {
    await removeTrees([home.root], tools); // nothing was ever made outside of it
    return { removed: [], failures: [] };
  }
  const sweep = new Sweep(home, names, tools, options);
  await sweep.run(options.graceMs ?? 0);
  return sweep;
}

class Sweep implements SweepReport {
  readonly removed: string[] = [];
  readonly failures: string[] = [];
  readonly #home: HomeLayout;
  readonly #names: HomeNames;
  readonly #options: SweepOptions;
  readonly #tools: Tools;

  constructor(home: HomeLayout, names: HomeNames, tools: Tools, options: SweepOptions) {
    this.#home = home;
    this.#names = names;
    this.#options = options;
    this.#tools = tools;
  }

  async run(graceMs: number): Promise<void> {
    await makeHomeDirectories(this.#home);
    const holding = await this.#hold();
    const runtime = this.#openRuntime();
    const isIndexOurs = holding === 'kept' || holding === 'taken';
    const context = { home: this.#home, ...this.#names, isIndexOurs, tools: this.#tools, runtime };
    try {
      const entries = await readLedger(this.#home, this.#options.log);
      if (graceMs > 0) await this.#askToEnd(entries, context, graceMs);
      await Promise.all(entries.map((entry) => this.#removePod(entry, context)));
    } finally {
      runtime.close();
    }
    await this.#removeGroups();
    if (isIndexOurs) await this.#removeLinks();
    // while anything is left the index stays ours: the rules go on holding what may still run
    if (isIndexOurs && this.failures.length === 0) await this.#release(holding);
    if (this.failures.length === 0) await removeTrees([this.#home.root], this.#tools);
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

  /** Undefined when it cannot be known: then no link is removed by name, and the next sweep tries again. */
  async #hold(): Promise<Holding | undefined> {
    try {
      return await holdHomeNetwork(this.#names.network, this.#options.dataDir, this.#tools);
    } catch (err) {
      this.#fail(`table ${this.#names.network.table}`, messageOf(err));
      return undefined;
    }
  }

  async #removeGroups(): Promise<void> {
    const paths = await cgroupsBeginning(this.#names.containerPrefix);
    const groups = new Set(paths.map((path) => path.split('/').at(-1) ?? ''));
    for (const group of groups) await this.#step(`control group ${group}`, () => removeCgroup(group));
  }

  async #removeLinks(): Promise<void> {
    const { linkPrefix } = this.#names.network;
    for (const link of (await namesIn('/sys/class/net')).filter((name) => name.startsWith(linkPrefix))) {
      await this.#step(`link ${link}`, () => removeLink(link, this.#tools));
    }
  }

  async #release(holding: Holding): Promise<void> {
    const { index, table } = this.#names.network;
    const wasThere = holding === 'kept'; // else we made it just now
    await this.#step(`table ${table}`, () => releaseHomeNetwork(index, this.#tools), wasThere);
  }
}
