/**
 * A home's place in the machine's network: its table of rules, its addresses, and the one machine-wide setting
 * that pods need (forwarding on the uplinks), taken with the first home and given back with the last.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { Fault, isFault, type Log, messageOf } from '@hutch/base';
import { runCommand, type Tools } from '../command.ts';
import { readIfPresent } from '../files.ts';
import { withMachineLock } from './machine-lock.ts';
import {
  connectedNetworks,
  freePrefix,
  type HomeNetworkPlan,
  homeNetworkPlan,
  maxHomes,
  parseRoutes,
  type Route,
  tableOf,
  tablePattern,
  uplinksOf,
} from './plan.ts';
import {
  claimRuleset,
  closedRuleset,
  forwardingRuleset,
  forwardingTable,
  holdRuleset,
  isOwner,
  parseForwarding,
} from './ruleset.ts';

const lockName = 'network';
const lockTimeoutMs = 10_000;

export interface HomeNetworkDeps {
  readonly tools: Tools;
  readonly log: Log;
}

async function readRoutes(): Promise<Route[]> {
  return parseRoutes(await readFile('/proc/net/route', 'utf8'));
}

/** The indexes in use on this machine, by homes alive or dead. */
export async function claimedIndexes(tools: Tools): Promise<number[]> {
  const names = await tableNames(tools);
  return names.map((name) => tablePattern.exec(name)?.[1]).flatMap((index) => (index ? [Number(index)] : []));
}

async function tableNames(tools: Tools): Promise<string[]> {
  const text = await runCommand(tools.nft, ['list', 'tables']);
  return [...text.matchAll(/^table inet (\S+)$/gm)].map(([, name]) => name ?? '');
}

/**
 * Takes a free index. Two homes that want the same one meet in the kernel: creating the table fails for the second,
 * which goes on to the next. `remember` is called before each try, so that no table is ever made that its home
 * does not know of.
 */
export async function claimHomeNetwork(
  owner: string,
  remember: (home: HomeNetworkPlan) => void,
  { tools }: HomeNetworkDeps,
): Promise<HomeNetworkPlan> {
  const routes = await readRoutes();
  const taken = new Set(await claimedIndexes(tools));
  for (let index = 1; index <= maxHomes; index++) {
    const prefix = taken.has(index) ? undefined : freePrefix(index, routes);
    if (prefix === undefined) continue;
    const home = homeNetworkPlan(index, prefix);
    remember(home);
    if (await applyRules(desiredRules(home, owner, routes), tools)) return home;
  }
  throw new Fault('unavailable', 'claim a network for the home: every index or address range is taken');
}

/**
 * Takes back the index of an earlier run. Rules that are still there are replaced in one step, so that pods which go on
 * running are never without. False when the index belongs to another home by now: after a reboot it was free.
 */
export async function reclaimHomeNetwork(
  home: HomeNetworkPlan,
  owner: string,
  { tools }: HomeNetworkDeps,
): Promise<boolean> {
  const rules = desiredRules(home, owner, await readRoutes());
  if (await applyRules(rules, tools)) return true;
  const comment = await commentOf(home.index, tools);
  if (comment === undefined || !isOwner(comment, owner)) return false;
  return await applyRules(`delete table inet ${home.table}\n${rules}`, tools);
}

/** Whose index it is: ours as we left it, ours because it was free, or another home's. */
export type Holding = 'kept' | 'taken' | 'foreign';

/**
 * Makes sure, for a home that is to be removed, that no other home has its index or takes it meanwhile: what bears the
 * index in its name is ours to remove only then.
 */
export async function holdHomeNetwork(home: HomeNetworkPlan, owner: string, tools: Tools): Promise<Holding> {
  const comment = await commentOf(home.index, tools);
  if (comment !== undefined) return isOwner(comment, owner) ? 'kept' : 'foreign';
  return (await applyRules(holdRuleset(home, owner), tools)) ? 'taken' : 'foreign';
}

function desiredRules(home: HomeNetworkPlan, owner: string, routes: readonly Route[]): string {
  const uid = process.getuid?.() ?? 0;
  return claimRuleset({ home, owner, connected: connectedNetworks(routes), uid });
}

/** All or nothing. False when a table of that name is there already. */
async function applyRules(input: string, tools: Tools): Promise<boolean> {
  try {
    await runCommand(tools.nft, ['-f', '-'], { input });
    return true;
  } catch (err) {
    if (isFault(err, 'internal') && err.message.includes('File exists')) return false;
    throw err;
  }
}

/** What the table with this index says of its owner; undefined when there is none. */
async function commentOf(index: number, tools: Tools): Promise<string | undefined> {
  const listing = await listTable(tableOf(index), tools);
  return listing === undefined ? undefined : (/^\s*comment "(.*)"$/m.exec(listing)?.[1] ?? '');
}

async function listTable(name: string, tools: Tools): Promise<string | undefined> {
  try {
    return await runCommand(tools.nft, ['list', 'table', 'inet', name]);
  } catch (err) {
    if (isFault(err, 'internal') && err.message.includes('No such file')) return undefined;
    throw err;
  }
}

const forwardingFile = (link: string) => `/proc/sys/net/ipv4/conf/${link}/forwarding`;

/**
 * Follows the machine's uplinks: packets from the world to pods enter there, so those links must forward. Called at
 * every pod; unless the routes changed it only reads one small file.
 */
export class Uplinks {
  readonly #home: HomeNetworkPlan;
  readonly #deps: HomeNetworkDeps;
  #seen: string | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(home: HomeNetworkPlan, deps: HomeNetworkDeps) {
    this.#home = home;
    this.#deps = deps;
  }

  /** One at a time; never fails a pod for what only concerns its way out. */
  refresh(): Promise<void> {
    this.#running = this.#running
      .then(() => this.#refresh())
      .catch((err: unknown) => {
        this.#deps.log.warn('pods may not reach the network', { error: messageOf(err) });
      });
    return this.#running;
  }

  async #refresh(): Promise<void> {
    const routes = await readRoutes();
    const uplinks = uplinksOf(routes);
    const connected = connectedNetworks(routes);
    const seen = JSON.stringify([uplinks, connected]);
    if (seen === this.#seen) return;
    await enableForwarding(uplinks, this.#deps.tools);
    const { nft } = this.#deps.tools;
    await runCommand(nft, ['-f', '-'], { input: closedRuleset(this.#home.table, connected) });
    this.#seen = seen;
  }
}

/** Only links that did not forward before are changed, and those are remembered in a table of their own. */
async function enableForwarding(uplinks: readonly string[], tools: Tools): Promise<void> {
  await withMachineLock(lockName, lockTimeoutMs, async () => {
    const ours = await rememberedUplinks(tools);
    const closed: string[] = [];
    for (const link of uplinks) {
      if ((await readIfPresent(forwardingFile(link)))?.trim() === '0') closed.push(link);
    }
    if (closed.length === 0) return;
    const all = [...new Set([...ours, ...closed])].sort();
    // remembered first: a crash between the two leaves a link to set back that was never changed
    await runCommand(tools.nft, ['-f', '-'], { input: forwardingRuleset(all) });
    for (const link of closed) await writeFile(forwardingFile(link), '1');
  });
}

async function rememberedUplinks(tools: Tools): Promise<string[]> {
  return parseForwarding((await listTable(forwardingTable, tools)) ?? '');
}

/**
 * Gives the index back; the last home of the machine sets forwarding back to what it was. Repeating it is harmless,
 * and so is releasing an index that was never claimed. Pods' links must be gone.
 */
export async function releaseHomeNetwork(index: number, tools: Tools): Promise<void> {
  await withMachineLock(lockName, lockTimeoutMs, async () => {
    const names = await tableNames(tools);
    const own = tableOf(index);
    const isLast = !names.some((name) => tablePattern.test(name) && name !== own);
    const doomed = names.filter((name) => name === own || (isLast && name === forwardingTable));
    if (doomed.includes(forwardingTable)) await restoreForwarding(tools);
    if (doomed.length === 0) return;
    const input = doomed.map((name) => `delete table inet ${name}\n`).join('');
    await runCommand(tools.nft, ['-f', '-'], { input });
  });
}

async function restoreForwarding(tools: Tools): Promise<void> {
  for (const link of await rememberedUplinks(tools)) {
    if ((await readIfPresent(forwardingFile(link))) !== undefined) await writeFile(forwardingFile(link), '0');
  }
}
