/** Removes everything a home has on the machine, from its ledger and then by name, whatever state it was left in. */
import { rm } from 'node:fs/promises';
import { type Log, messageOf } from '@hutch/base';
import { requireTools, type Tools } from './command.ts';
import { cgroupsBeginning, removeCgroup } from './containers/cgroups.ts';
import { ConmonRuntime } from './containers/conmon-runtime.ts';
import type { ContainerRuntime } from './containers/runtime.ts';
import { namesIn } from './files.ts';
import { type HomeLayout, homeLayout } from './home.ts';
import { ownerOf, releaseHomeNetwork } from './network/home-network.ts';
import type { HomeNetworkPlan } from './network/plan.ts';
import { removeLink } from './network/pod-network.ts';
import { ownerComment } from './network/ruleset.ts';
import { makeHomeDirectories, readHomeRecord } from './open-home.ts';
import { type LedgerEntry, readLedger } from './pods/ledger.ts';
import { placesOf, type RemovalContext, removeRecordedPod } from './pods/remove-pod.ts';

export interface SweepOptions {
  readonly dataDir: string;
  /** Time for containers to end by themselves after SIGTERM. Zero: they are killed at once. */
  readonly graceMs?: number;
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
 * but whose index is known still loses its links, control groups (with all processes in them) and rules.
 */
export async function sweepHome(options: SweepOptions): Promise<SweepReport> {
  const home = homeLayout(options.dataDir);
  const network = await readHomeRecord(home);
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
    this.#tools = requireTools();
  }

  async run(graceMs: number): Promise<void> {
    await makeHomeDirectories(this.#home);
    const runtime = this.#openRuntime();
    const context = { home: this.#home, network: this.#network, tools: this.#tools, runtime };
    try {
      const entries = await readLedger(this.#home);
      if (graceMs > 0) await this.#askToEnd(entries, context, graceMs);
      await Promise.all(entries.map((entry) => this.#removePod(entry, context)));
    } finally {
      runtime.close();
    }
    if (await this.#isOurs()) await this.#removeByName();
    if (this.failures.length === 0) await rm(this.#home.root, { recursive: true, force: true });
  }

  #openRuntime(): ContainerRuntime {
    const { log } = this.#options;
    const { runc } = this.#tools;
    return new ConmonRuntime({
      name: 'runc',
      program: runc,
      tools: this.#tools,
      home: this.#home,
      rootPath: '/',
      log,
    });
  }

  async #step(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.removed.push(what);
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

  /** After a reboot another home may have our index; what bears its name is not ours then. */
  async #isOurs(): Promise<boolean> {
    const owner = await ownerOf(this.#network.index, this.#tools);
    return owner === undefined || owner === ownerComment(this.#options.dataDir);
  }

  async #removeByName(): Promise<void> {
    const { index, linkPrefix, table } = this.#network;
    const groups = new Set((await cgroupsBeginning(linkPrefix)).map((path) => path.split('/').at(-1) ?? ''));
    for (const group of groups) await this.#step(`control group ${group}`, () => removeCgroup(group));
    for (const link of (await namesIn('/sys/class/net')).filter((name) => name.startsWith(linkPrefix))) {
      await this.#step(`link ${link}`, () => removeLink(link, this.#tools));
    }
    await this.#step(`table ${table}`, () => releaseHomeNetwork(index, this.#tools));
  }
}
