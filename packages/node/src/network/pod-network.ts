/** One pod's network namespace and its link to the host: made with two processes, removed with two. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { Fault, isFault, messageOf } from '@hutch/base';
import { runCommand, type Tools } from '../command.ts';
import { isErrno, readIfPresent } from '../files.ts';
import { type HomeNetworkPlan, type PodNetworkPlan, parseRoutes, uplinksOf } from './plan.ts';

const defaultMtu = 1500;

export interface PodNetworkContext {
  readonly home: HomeNetworkPlan;
  readonly tools: Tools;
  readonly signal: AbortSignal;
}

/**
 * Makes the namespace, held by a mount on `netns`, and the pod's end of the link. When it resolves a container can be
 * created in the namespace; it has its address once `attachHost` is done too.
 *
 * No IPv6 on the link: neither end gets a link-local address, and loopback keeps ::1.
 */
export async function openPodNetwork(
  pod: PodNetworkPlan,
  netns: string,
  context: PodNetworkContext,
): Promise<void> {
  const { home, tools, signal } = context;
  writeFileSync(netns, '');
  const input = `link set lo up
link add eth0 mtu ${uplinkMtu()} address ${pod.podMac} type veth peer name ${pod.link} address ${pod.hostMac} netns ${process.pid}
link set eth0 addrgenmode none
addr add ${pod.ip}/32 dev eth0
link set eth0 up
neigh add ${home.hostIp} lladdr ${pod.hostMac} dev eth0 nud permanent
route add default via ${home.hostIp} dev eth0 onlink
`;
  await runCommand(tools.unshare, [`--net=${netns}`, tools.ip, '-batch', '-'], { input, signal });
}

/** The smallest MTU of the links that lead out, so that pods need no discovery for the first hop. */
function uplinkMtu(): number {
  const uplinks = uplinksOf(parseRoutes(readFileSync('/proc/net/route', 'utf8')));
  const files = uplinks.map((link) => `/sys/class/net/${link}/mtu`).filter((path) => existsSync(path));
  return Math.min(defaultMtu, ...files.map((path) => Number(readFileSync(path, 'utf8'))));
}

/** The host's end: its address, the route to the pod, and forwarding for this link alone. Repeating it mends what is amiss. */
export async function attachHost(
  pod: PodNetworkPlan,
  { home, tools, signal }: PodNetworkContext,
): Promise<void> {
  const input = `link set ${pod.link} addrgenmode none
addr replace ${home.hostIp}/32 dev ${pod.link}
link set ${pod.link} up
neigh replace ${pod.ip} lladdr ${pod.podMac} dev ${pod.link} nud permanent
route replace ${pod.ip}/32 dev ${pod.link} src ${home.hostIp}
`;
  await runCommand(tools.ip, ['-batch', '-'], { input, signal });
  await Promise.all([
    writeFile(`/proc/sys/net/ipv4/conf/${pod.link}/forwarding`, '1'),
    writeFile(`/proc/sys/net/ipv4/conf/${pod.link}/rp_filter`, '1'),
  ]);
}

/** Idempotent, and goes on after a failure: what can be removed is, then the failures are told together. */
export async function closePodNetwork(link: string, netns: string, tools: Tools): Promise<void> {
  const results = await Promise.allSettled([removeLink(link, tools), releaseNamespace(netns, tools)]);
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (failures.length > 0) {
    throw new Fault('internal', `remove network of ${link}: ${failures.map(messageOf).join('; ')}`);
  }
}

/** Deleted by name although it would go with its namespace: the kernel takes its time over that. */
export async function removeLink(link: string, tools: Tools): Promise<void> {
  if ((await readIfPresent(`/sys/class/net/${link}/ifindex`)) === undefined) return;
  try {
    await runCommand(tools.ip, ['link', 'delete', link]);
  } catch (err) {
    if (!(isFault(err) && err.message.includes('Cannot find device'))) throw err;
  }
}

/** Unlinking the file also drops the copies of the mount that other mount namespaces hold. */
export async function releaseNamespace(netns: string, tools: Tools): Promise<void> {
  for (;;) {
    try {
      await rm(netns, { force: true });
      return;
    } catch (err) {
      if (!isErrno(err, 'EBUSY')) throw err;
    }
    await runCommand(tools.umount, [netns]); // once per mount: a set-up that was repeated left more than one
  }
}
