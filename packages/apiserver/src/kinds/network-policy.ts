/** What may be said of a network policy. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { forbiddenField, invalidValue, type Problem, required, unsupportedValue } from '../problems.ts';
import { eachOf, labelSelectorOf, portOf, rangeProblems } from './checks.ts';
import type { ApiObject } from './kind.ts';

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

interface Port {
  readonly protocol?: string;
  readonly port?: number | string;
  readonly endPort?: number;
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Spec {
  readonly podSelector?: Selector;
  readonly ingress?: readonly { readonly ports?: readonly Port[]; readonly from?: readonly Peer[] }[];
  readonly egress?: readonly { readonly ports?: readonly Port[]; readonly to?: readonly Peer[] }[];
  readonly policyTypes?: readonly string[];
}

const protocols = ['TCP', 'UDP', 'SCTP'];
const directions = ['Ingress', 'Egress'];

export function validateNetworkPolicy(object: ApiObject): Problem[] {
  const { podSelector, ingress, egress, policyTypes = [] } = (object.spec ?? {}) as Spec;
  const sides = [
    ...labelSelectorOf('spec.podSelector', podSelector),
    ...eachOf(ingress, 'spec.ingress', ({ ports, from }, at) => [
      ...eachOf(ports, `${at}.ports`, portProblems),
      ...eachOf(from, `${at}.from`, peerProblems),
    ]),
    ...eachOf(egress, 'spec.egress', ({ ports, to }, at) => [
      ...eachOf(ports, `${at}.ports`, portProblems),
      ...eachOf(to, `${at}.to`, peerProblems),
    ]),
  ];
  if (policyTypes.length > directions.length) {
    return [
      ...sides,
      invalidValue('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes'),
    ];
  }
  return [
    ...sides,
    ...eachOf(policyTypes, 'spec.policyTypes', (type, at) =>
      directions.includes(type) ? [] : [unsupportedValue(at, type, directions)],
    ),
  ];
}

function portProblems({ protocol, port, endPort }: Port, path: string): Problem[] {
  return [
    ...(protocol === undefined || protocols.includes(protocol)
      ? []
      : [unsupportedValue(`${path}.protocol`, protocol, protocols)]),
    ...(port === undefined ? [] : portOf(`${path}.port`, port)),
    ...(endPort === undefined ? [] : endPortProblems(port, endPort, `${path}.endPort`)),
  ];
}

function endPortProblems(port: number | string | undefined, endPort: number, path: string): Problem[] {
  if (port === undefined)
    return [invalidValue(path, endPort, 'may not be specified when `port` is not specified')];
  if (typeof port === 'string')
    return [invalidValue(path, endPort, 'may not be specified when `port` is non-numeric')];
  return [
    ...(endPort < port ? [invalidValue(path, port, 'must be greater than or equal to `port`')] : []),
    ...(endPort < 1 || endPort > 65_535
      ? [invalidValue(path, endPort, 'must be between 1 and 65535, inclusive')]
      : []),
  ];
}

function peerProblems(peer: Peer, path: string): Problem[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const count = Object.keys(peer).length;
  if (count === 0) return [required(path, 'must specify a peer')];
  return [
    ...labelSelectorOf(`${path}.podSelector`, podSelector),
    ...labelSelectorOf(`${path}.namespaceSelector`, namespaceSelector),
    ...(ipBlock ? blockProblems(ipBlock, `${path}.ipBlock`) : []),
    ...(ipBlock && count > 1 ? [forbiddenField(path, 'may not specify both ipBlock and another peer')] : []),
  ];
}

interface Range {
  readonly ip: string;
  readonly bits: number;
}

function rangeOf(text: string): Range | undefined {
  const [ip = '', bits = '', ...more] = text.split('/');
  const max = isIPv4(ip) ? 32 : isIPv6(ip) ? 128 : -1;
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= max
    ? { ip, bits: Number(bits) }
    : undefined;
}

function blockProblems(
  { cidr, except }: { cidr: string; except?: readonly string[] },
  path: string,
): Problem[] {
  if (cidr === '') return [required(`${path}.cidr`)];
  const wrong = rangeProblems(`${path}.cidr`, cidr);
  const range = rangeOf(cidr);
  if (!range) return wrong;
  const exceptions = eachOf(except, `${path}.except`, (text, at) => {
    const part = rangeOf(text);
    const outside = part && !isWithin(range, part);
    return [
      ...rangeProblems(at, text),
      ...(outside ? [invalidValue(at, text, 'must be a strict subset of `cidr`')] : []),
    ];
  });
  return [...wrong, ...exceptions];
}

function isWithin(range: Range, part: Range): boolean {
  const family = isIPv6(range.ip) ? 'ipv6' : 'ipv4';
  if (isIPv6(part.ip) !== isIPv6(range.ip) || part.bits <= range.bits) return false;
  const block = new BlockList();
  block.addSubnet(range.ip, range.bits, family);
  return block.check(part.ip, family);
}
