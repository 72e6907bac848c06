/** The files in a container's /etc that depend on the pod. Pure. */
import type { Pod } from '@hutch/kube-meta';
import { hostnameOf } from '../containers/spec.ts';

export function desiredEtcFiles(
  pod: Pod,
  ip: string,
  nameservers: readonly string[],
): Record<string, string> {
  return {
    'etc/hostname': `${hostnameOf(pod)}\n`,
    'etc/hosts': hosts(pod, ip),
    'etc/resolv.conf': resolvers(pod, nameservers),
  };
}

function hosts(pod: Pod, ip: string): string {
  const aliases = (pod.spec.hostAliases ?? []).map(({ ip: address, hostnames }) => [
    address,
    ...(hostnames ?? []),
  ]);
  const lines = [
    ['127.0.0.1', 'localhost'],
    ['::1', 'localhost', 'ip6-localhost', 'ip6-loopback'],
    [ip, hostnameOf(pod)],
    ...aliases,
  ];
  return lines.map((fields) => `${fields.join('\t')}\n`).join('');
}

/** Without a name server that a pod may reach, looking up a name fails at once instead of timing out. */
function resolvers(pod: Pod, nameservers: readonly string[]): string {
  const config = pod.spec.dnsConfig;
  const own = pod.spec.dnsPolicy === 'None' ? [] : nameservers;
  const servers = [...(config?.nameservers ?? []), ...own].map((address) => `nameserver ${address}\n`);
  const search = config?.searches?.length ? `search ${config.searches.join(' ')}\n` : '';
  const options = (config?.options ?? []).map(({ name, value }) =>
    value === undefined ? name : `${name}:${value}`,
  );
  return [...servers, search, options.length > 0 ? `options ${options.join(' ')}\n` : ''].join('');
}

/** From a machine's resolv.conf those that are on the public network; the others are closed to pods. */
export function publicNameservers(resolvConf: string): string[] {
  const all = [...resolvConf.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, address]) => address ?? '');
  return all
    .filter((address) => /^\d+\.\d+\.\d+\.\d+$/.test(address) && !privateAddress.test(address))
    .slice(0, 3);
}

const privateAddress =
  /^(0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^(22[4-9]|2[3-5]\d)\./;
