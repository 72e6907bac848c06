import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';

class Address {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

class Range {
  readonly address: Address;
  readonly bits: number;

  constructor(address: Address, bits: number) {
    this.address = address;
    this.bits = bits;
  }
}

/** The one way an address is written. */
function canonical(text: string): string {
  return isIPv4(text) ? text : new URL(`http://[${text}]`).hostname.slice(1, -1);
}

function addressOf(text: string): Address {
  const isMapped = text.toLowerCase().startsWith('::ffff:') && text.includes('.');
  if (isIP(text) === 0 || text.includes('%') || isMapped) {
    throw new Error(`IP Address "${text}" parse error during conversion from string`);
  }
  return new Address(canonical(text));
}

function rangeOf(text: string): Range {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const [, ip = '', bits = ''] = match ?? [];
  if (isIP(ip) === 0 || Number(bits) > (isIPv4(ip) ? 32 : 128)) {
    throw new Error('network address parse error during conversion from string');
  }
  return new Range(addressOf(ip), Number(bits));
}

function works(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}

function family(text: string): 'ipv4' | 'ipv6' {
  return isIPv6(text) ? 'ipv6' : 'ipv4';
}

function isWithin(text: string, ...ranges: string[]): boolean {
  return ranges.some((range) => contains(rangeOf(range), new Address(text)));
}

function contains({ address, bits }: Range, { text }: Address): boolean {
  if (family(address.text) !== family(text)) return false;
  const block = new BlockList();
  block.addSubnet(address.text, bits, family(address.text));
  return block.check(text, family(text));
}

function masked({ address, bits }: Range): Range {
  const isFour = isIPv4(address.text);
  const width = isFour ? 32 : 128;
  const cut = BigInt(width - bits);
  const value = (numberOf(address.text) >> cut) << cut;
  return new Range(new Address(textOf(value, isFour)), bits);
}

function numberOf(text: string): bigint {
  if (isIPv4(text)) return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = text.split('::');
  const words = (part: string) => (part === '' ? [] : part.split(':'));
  const [left, right] = [words(head), words(tail ?? '')];
  const middle = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...middle, ...right].reduce((sum, word) => sum * 65_536n + BigInt(`0x${word}`), 0n);
}

function textOf(value: bigint, isFour: boolean): string {
  const [size, count] = isFour ? [8n, 4] : [16n, 8];
  const parts = Array.from(
    { length: count },
    (_, at) => (value >> (size * BigInt(count - 1 - at))) & ((1n << size) - 1n),
  );
  return isFour ? parts.join('.') : canonical(parts.map((part) => part.toString(16)).join(':'));
}

export function registerAddresses(env: Environment): void {
  env.registerType('net.IP', { ctor: Address });
  env.registerType('net.CIDR', { ctor: Range });
  const method = (signature: string, handler: (one: Address) => unknown) =>
    env.registerFunction(`net.IP.${signature}`, handler);

  env.registerFunction('ip(string): net.IP', addressOf);
  env.registerFunction('isIP(string): bool', (text: string) => works(() => addressOf(text)));
  env.registerFunction('string(net.IP): string', ({ text }: Address) => text);
  env.registerOperator('net.IP == net.IP', (a: Address, b: Address) => a.text === b.text);
  method('family(): int', ({ text }) => (isIPv4(text) ? 4n : 6n));
  method('isUnspecified(): bool', ({ text }) => text === '0.0.0.0' || text === '::');
  method('isLoopback(): bool', ({ text }) => isWithin(text, '127.0.0.0/8', '::1/128'));
  method('isLinkLocalMulticast(): bool', ({ text }) => isWithin(text, '224.0.0.0/24', 'ff02::/16'));
  method('isLinkLocalUnicast(): bool', ({ text }) => isWithin(text, '169.254.0.0/16', 'fe80::/10'));
  method(
    'isGlobalUnicast(): bool',
    ({ text }) =>
      !isWithin(text, '0.0.0.0/32', '::/128', '127.0.0.0/8', '::1/128', '224.0.0.0/4', 'ff00::/8') &&
      !isWithin(text, '169.254.0.0/16', 'fe80::/10', '255.255.255.255/32'),
  );

  env.registerFunction('cidr(string): net.CIDR', rangeOf);
  env.registerFunction('isCIDR(string): bool', (text: string) => works(() => rangeOf(text)));
  env.registerFunction('string(net.CIDR): string', ({ address, bits }: Range) => `${address.text}/${bits}`);
  env.registerOperator(
    'net.CIDR == net.CIDR',
    (a: Range, b: Range) => a.address.text === b.address.text && a.bits === b.bits,
  );
  env.registerFunction('net.CIDR.containsIP(net.IP): bool', contains);
  env.registerFunction('net.CIDR.containsIP(string): bool', (range: Range, text: string) => {
    if (!works(() => addressOf(text))) throw new Error('no such overload');
    return contains(range, addressOf(text));
  });
  const includes = (range: Range, other: Range) => other.bits >= range.bits && contains(range, other.address);
  env.registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', includes);
  env.registerFunction('net.CIDR.containsCIDR(string): bool', (range: Range, text: string) => {
    if (!works(() => rangeOf(text))) throw new Error('no such overload');
    return includes(range, rangeOf(text));
  });
  env.registerFunction('net.CIDR.ip(): net.IP', ({ address }: Range) => address);
  env.registerFunction('net.CIDR.prefixLength(): int', ({ bits }: Range) => BigInt(bits));
  env.registerFunction('net.CIDR.masked(): net.CIDR', masked);
}
