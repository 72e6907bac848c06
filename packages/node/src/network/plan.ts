/**
 * Names and addresses of a home's network. Everything follows from two small numbers: the home's index on this
 * machine and the pod's slot in the home. Pure.
 */

/** Slot 1 is the address the host itself has on every pod's link. */
const hostSlot = 1;
const firstPodSlot = 2;
const lastPodSlot = 254;
export const maxHomes = 254;

/** Tried in order; each home takes one /24 out of the first range where nothing else on the machine is in the way. */
const ranges = ['10.231', '172.29', '10.199', '192.168'] as const;

export interface HomeNetworkPlan {
  readonly index: number;
  /** First three numbers of the home's addresses. */
  readonly prefix: string;
  readonly subnet: string;
  readonly hostIp: string;
  readonly table: string;
  /** Of all the home's links. */
  readonly linkPrefix: string;
}

/** Every link of every home begins so: what one pod must never reach. */
export const anyHomeLinks = 'hutch*';
export const tablePattern = /^hutch-(\d+)$/;

export function tableOf(index: number): string {
  return `hutch-${index}`;
}

export function homeNetworkPlan(index: number, prefix: string): HomeNetworkPlan {
  return {
    index,
    prefix,
    subnet: `${prefix}.0/24`,
    hostIp: `${prefix}.${hostSlot}`,
    table: tableOf(index),
    linkPrefix: `hutch${index}-`,
  };
}

export interface PodNetworkPlan {
  readonly slot: number;
  readonly ip: string;
  /** The host's end of the pod's link. */
  readonly link: string;
  readonly hostMac: string;
  readonly podMac: string;
}

export function podNetworkPlan(home: HomeNetworkPlan, slot: number): PodNetworkPlan {
  // locally administered; both known beforehand, so neither side ever has to ask who has an address
  const mac = (side: number) => `02:68:${[side, home.index, 0, slot].map(hexByte).join(':')}`;
  return {
    slot,
    ip: `${home.prefix}.${slot}`,
    link: `${home.linkPrefix}${slot}`,
    hostMac: mac(1),
    podMac: mac(2),
  };
}

const hexByte = (value: number) => value.toString(16).padStart(2, '0');

export function podSlots(): number[] {
  return Array.from({ length: lastPodSlot - firstPodSlot + 1 }, (_, index) => firstPodSlot + index);
}

export interface Route {
  readonly device: string;
  readonly destination: number;
  readonly gateway: number;
  readonly mask: number;
}

/** The main routing table as /proc/net/route has it: hexadecimal, in the machine's (little-endian) byte order. */
export function parseRoutes(text: string): Route[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 8)
    .map(([device = '', destination = '', gateway = '', , , , , mask = '']) => ({
      device,
      destination: littleEndian(destination),
      gateway: littleEndian(gateway),
      mask: littleEndian(mask),
    }));
}

function littleEndian(hex: string): number {
  return Buffer.from(hex.padStart(8, '0'), 'hex').readUInt32LE();
}

/** Devices that lead to the rest of the world. */
export function uplinksOf(routes: readonly Route[]): string[] {
  return [...new Set(routes.filter(({ mask }) => mask === 0).map(({ device }) => device))].sort();
}

/** Networks the machine has a link in: neighbours, not the public. */
export function connectedNetworks(routes: readonly Route[]): string[] {
  const networks = routes
    .filter(({ device, gateway, mask }) => gateway === 0 && mask !== 0 && !device.startsWith('hutch'))
    .map(({ destination, mask }) => `${ipText(destination)}/${prefixLength(mask)}`);
  return [...new Set(networks)].sort();
}

/** Where the home with this index may live, or undefined when every range is taken by a route of the machine. */
export function freePrefix(index: number, routes: readonly Route[]): string | undefined {
  const foreign = routes.filter(({ device, mask }) => mask !== 0 && !device.startsWith('hutch'));
  return ranges
    .map((range) => `${range}.${index}`)
    .find((prefix) => {
      const start = ipNumber(`${prefix}.0`);
      const mask = 0xffffff00;
      return !foreign.some((route) => {
        const common = (route.mask & mask) >>> 0;
        return (route.destination & common) >>> 0 === (start & common) >>> 0;
      });
    });
}

export function ipNumber(text: string): number {
  return text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

function ipText(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

function prefixLength(mask: number): number {
  return Math.clz32(~mask >>> 0);
}
