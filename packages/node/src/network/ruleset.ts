/**
 * The packet rules of a home, as one nftables table. Pure text.
 *
 * The rules speak of all slots a home can ever give out, so starting a pod changes no rule: what is forbidden is
 * forbidden before its first process, and before its link, exists.
 */
import { createHash } from 'node:crypto';
import { anyHomeLinks, type HomeNetworkPlan, podNetworkPlan, podSlots } from './plan.ts';

/**
 * Not the public internet: private, shared, loopback, link-local, protocol and benchmark nets, multicast, reserved. The
 * documentation nets are open like any address where nobody is; tests let one stand for the public.
 */
const neverPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
] as const;

export interface RulesetInput {
  readonly home: HomeNetworkPlan;
  /** Whose table it is: the data directory, for people and for a sweep that lost the ledger. */
  readonly owner: string;
  /** The machine's own links: its neighbours there are no more public than a private network. */
  readonly connected: readonly string[];
  /** The user the home runs as. Other users of the machine must come through the router. */
  readonly uid: number;
}

/**
 * nftables keeps at most 128 bytes: a digest of the whole path, which is what counts, and for people its end, which says
 * more than its beginning.
 */
export function ownerComment(owner: string): string {
  return `${ownerDigest(owner)} ${owner.replace(/[^\w./-]/g, '_').slice(-80)}`;
}

export function isOwner(comment: string, owner: string): boolean {
  return comment.split(' ')[0] === ownerDigest(owner);
}

function ownerDigest(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, 32);
}

/** Fails when the table exists: that is how a home's index is claimed. */
export function holdRuleset(home: HomeNetworkPlan, owner: string): string {
  return `create table inet ${home.table} { comment "${ownerComment(owner)}"; }\n`;
}

/**
 * Holds the index and sets up its rules: all of it, or nothing when the table exists. Of an address that no pod has the
 * routes know nothing, and what is sent there would leave by an uplink and might be answered: so it is refused.
 */
export function claimRuleset(input: RulesetInput): string {
  const { home, uid } = input;
  const pods = `"${home.linkPrefix}*"`;
  const addresses = podSlots()
    .map((slot) => podNetworkPlan(home, slot))
    .map(({ link, ip }) => `"${link}" . ${ip}`);
  return `${holdRuleset(home, input.owner)}table inet ${home.table} {
  set addresses { type ifname . ipv4_addr; elements = { ${addresses.join(', ')} } }
  set closed { type ipv4_addr; flags interval; auto-merge; elements = { ${closedNetworks(input.connected)} } }
  chain origin {
    type filter hook prerouting priority raw; policy accept;
    iifname ${pods} meta nfproto != ipv4 drop
    iifname ${pods} iifname . ip saddr != @addresses drop
  }
  chain to-host {
    type filter hook input priority filter; policy accept;
    iifname ${pods} ct state established,related accept
    iifname ${pods} drop
  }
  chain from-host {
    type filter hook output priority filter; policy accept;
    oifname ${pods} ct state new meta skuid != ${uid} drop
    oifname != ${pods} oifname != "lo" ip daddr ${home.subnet} reject
  }
  chain through {
    type filter hook forward priority filter; policy accept;
    iifname ${pods} oifname "${anyHomeLinks}" drop
    iifname ${pods} ct state established,related accept
    iifname ${pods} ip daddr @closed drop
    oifname ${pods} ct state established,related accept
    oifname ${pods} drop
  }
  chain outward {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${home.subnet} oifname != "${anyHomeLinks}" masquerade
  }
}
`;
}

/** Replaces the closed networks in one step, for when the machine's own links changed. */
export function closedRuleset(table: string, connected: readonly string[]): string {
  return `flush set inet ${table} closed
add element inet ${table} closed { ${closedNetworks(connected)} }
`;
}

function closedNetworks(connected: readonly string[]): string {
  return [...new Set([...neverPublic, ...connected])].join(', ');
}

/** Remembers which links we made forward packets, so that they can be set back. Not a number: never a home's table. */
export const forwardingTable = 'hutch-forwarding';

/**
 * We let an uplink forward because pods need the answers; this keeps it from forwarding anything else, so that
 * the machine does not become a router for its neighbours.
 */
export function forwardingRuleset(uplinks: readonly string[]): string {
  const names = uplinks.map((name) => `"${name}"`).join(', ');
  return `table inet ${forwardingTable}
delete table inet ${forwardingTable}
table inet ${forwardingTable} {
  set uplinks { type ifname; elements = { ${names} } }
  chain through {
    type filter hook forward priority filter; policy accept;
    iifname @uplinks oifname != "${anyHomeLinks}" drop
  }
}
`;
}

/** The uplinks of a listed forwarding table. */
export function parseForwarding(listing: string): string[] {
  const elements = /set uplinks \{[^}]*elements = \{([^}]*)\}/.exec(listing)?.[1] ?? '';
  return [...elements.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? '');
}
