/** Which IP addresses may be a sandbox. Everything a request could use to reach the router's own machine is not. */
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const forbidden = new BlockList();
forbidden.addSubnet('0.0.0.0', 32, 'ipv4');
forbidden.addSubnet('169.254.0.0', 16, 'ipv4');
forbidden.addSubnet('224.0.0.0', 4, 'ipv4');
forbidden.addAddress('::', 'ipv6');
forbidden.addSubnet('fe80::', 10, 'ipv6');
forbidden.addSubnet('ff00::', 8, 'ipv6');

/**
 * A bare IPv4 or IPv6 literal of a routable class: not loopback, link-local, multicast or unspecified.
 * IPv4 inside IPv6 is judged as the IPv4 address it is.
 */
export function isPodAddress(text: string, { allowLoopback = false } = {}): boolean {
  const family = familyOf(text);
  if (family === undefined) return false;
  if (forbidden.check(text, family)) return false;
  return allowLoopback || !loopback.check(text, family);
}

/** The same address, however it is written. Both must be pod addresses. */
export function isSameAddress(a: string, b: string): boolean {
  const [familyA, familyB] = [familyOf(a), familyOf(b)];
  if (familyA === undefined || familyB === undefined) return false;
  const exactly = new BlockList();
  exactly.addAddress(a, familyA);
  return exactly.check(b, familyB);
}

/** The `host:port` of a URL or Host header. */
export function authorityOf(address: string, port: number): string {
  return familyOf(address) === 'ipv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

function familyOf(text: string): 'ipv4' | 'ipv6' | undefined {
  if (text.includes('%')) return undefined; // a zone names an interface of this machine
  const version = isIP(text);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}
