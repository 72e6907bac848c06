/** Brings a home's directory and network into being, or finds those of an earlier run again. */
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
}

export async function readHomeRecord(home: HomeLayout, log: Log): Promise<HomeNetworkPlan | undefined> {
  const record = await readRecord<HomeRecord>(home.homeFile, log);
  return record && homeNetworkPlan(record.index, record.prefix);
}

export async function openHome(
  home: HomeLayout,
  dataDir: string,
  deps: { readonly tools: Tools; readonly log: Log },
): Promise<HomeNetworkPlan> {
  await makeHomeDirectories(home);
  const earlier = await readHomeRecord(home, deps.log);
  if (earlier && (await reclaimHomeNetwork(earlier, dataDir, deps))) return earlier;
  const remember = ({ index, prefix }: HomeNetworkPlan) =>
    replaceFile(home.homeFile, JSON.stringify({ index, prefix } satisfies HomeRecord));
  return await claimHomeNetwork(dataDir, remember, deps);
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
