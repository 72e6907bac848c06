/** Brings a home's directory and network into being, or finds those of an earlier run again. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { type Log, messageOf } from '@hutch/base';
import { runCommand, type Tools } from './command.ts';
import type { OciIdMapping } from './containers/oci.ts';
import { readRecord, replaceFile } from './files.ts';
import type { HomeLayout } from './home.ts';
import { claimHomeNetwork, reclaimHomeNetwork } from './network/home-network.ts';
import { type HomeNetworkPlan, homeNetworkPlan } from './network/plan.ts';

interface HomeRecord {
  readonly index: number;
  readonly prefix: string;
  /** Random, made once. */
  readonly key: string;
}

/** What a home goes by on the machine. */
export interface HomeNames {
  readonly network: HomeNetworkPlan;
  /**
   * Of its containers' ids, and so of their control groups. Those are the whole machine's, while an index is claimed in
   * one network namespace: two homes may have the same.
   */
  readonly containerPrefix: string;
}

/** The key tells apart homes that see the same path (in mount namespaces of their own), the path a home from its copy. */
function namesOf(home: HomeLayout, { index, prefix, key }: HomeRecord): HomeNames {
  const digest = createHash('sha256').update(`${home.root}\0${key}`).digest('hex').slice(0, 8);
  return { network: homeNetworkPlan(index, prefix), containerPrefix: `hutch-${digest}-` };
}

/** Undefined for a home that has claimed nothing yet. */
export async function readHomeNames(home: HomeLayout, log: Log): Promise<HomeNames | undefined> {
  const record = await readRecord<HomeRecord>(home.homeFile, log);
  return record && namesOf(home, record);
}

export async function openHome(
  home: HomeLayout,
  dataDir: string,
  deps: { readonly tools: Tools; readonly log: Log },
): Promise<HomeNames> {
  await makeHomeDirectories(home);
  const earlier = await readRecord<HomeRecord>(home.homeFile, deps.log);
  if (earlier) {
    const names = namesOf(home, earlier);
    if (await reclaimHomeNetwork(names.network, dataDir, deps)) return names;
  }
  const key = earlier?.key ?? randomBytes(8).toString('hex');
  const recordOf = ({ index, prefix }: HomeNetworkPlan): HomeRecord => ({ index, prefix, key });
  const remember = (plan: HomeNetworkPlan) => replaceFile(home.homeFile, JSON.stringify(recordOf(plan)));
  return namesOf(home, recordOf(await claimHomeNetwork(dataDir, remember, deps)));
}

/** Closed to the machine's other users: what containers write lies below. */
export async function makeHomeDirectories(home: HomeLayout): Promise<void> {
  const { root, pods, exits, runtimeState, sockets } = home;
  await mkdir(root, { recursive: true, mode: 0o700 });
  await Promise.all(
    [pods, exits, runtimeState, sockets].map((path) => mkdir(path, { recursive: true, mode: 0o700 })),
  );
}

/** Above everything that account tools give out, so that nobody on the machine is the root of a container. */
const userNamespace: OciIdMapping = { containerID: 0, hostID: 1_900_000_000, size: 65_536 };

export type UserNamespaceProbe =
  | { readonly isUsable: true; readonly mapping: OciIdMapping }
  | { readonly isUsable: false; readonly problem: string };

/** Not usable where the kernel does not allow user namespaces, or not with a /proc of their own. */
export async function probeUserNamespace(tools: Tools): Promise<UserNamespaceProbe> {
  const args = [
    '--user',
    '--map-root-user',
    '--pid',
    '--fork',
    '--mount',
    '--mount-proc',
    tools.sh,
    '-c',
    ':',
  ];
  try {
    await runCommand(tools.unshare, args, { timeoutMs: 5_000 });
    return { isUsable: true, mapping: userNamespace };
  } catch (err) {
    return { isUsable: false, problem: messageOf(err) };
  }
}
