/** Checks that many kinds share. Each lists what is wrong with one field, in Kubernetes' words. */
import { isIP } from 'node:net';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  jsonEquals,
  labelKeyProblems,
  labelValueProblems,
} from '@hutch/kube-meta';
import { immutable, invalidValue, type Problem, required, unsupportedValue } from '../problems.ts';

/** Every item of a list that may be absent, with its place. */
export function eachOf<T>(
  list: readonly T[] | null | undefined,
  path: string,
  check: (item: T, path: string, at: number) => Problem[],
): Problem[] {
  return (list ?? []).flatMap((item, at) => check(item, `${path}[${at}]`, at));
}

export function invalidBy(path: string, value: string, details: readonly string[]): Problem[] {
  return details.map((detail) => invalidValue(path, value, detail));
}

export function labelNameOf(path: string, value: string): Problem[] {
  return invalidBy(path, value, labelKeyProblems(value));
}

export function dnsLabelOf(path: string, value: string): Problem[] {
  return invalidBy(path, value, dnsLabelProblems(value));
}

export function dnsSubdomainOf(path: string, value: string): Problem[] {
  return invalidBy(path, value, dnsSubdomainProblems(value));
}

export function labelsOf(path: string, labels: Readonly<Record<string, string>> | undefined): Problem[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...labelNameOf(path, key),
    ...invalidBy(path, value, labelValueProblems(value)),
  ]);
}

/** One of a closed list; absent is an error of its own. */
export function oneOf(path: string, value: unknown, supported: readonly string[]): Problem[] {
  if (value === undefined || value === '') return [required(path)];
  return supported.includes(value as string) ? [] : [unsupportedValue(path, value, supported)];
}

export function inRange(path: string, value: number, low: number, high: number): Problem[] {
  if (value >= low && value <= high) return [];
  return [invalidValue(path, value, `must be between ${low} and ${high}, inclusive`)];
}

export function portNumberOf(path: string, value: number): Problem[] {
  return inRange(path, value, 1, 65_535);
}

export function portNameOf(path: string, value: string): Problem[] {
  const details: string[] = [];
  if (value.length > 15) details.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(value)) {
    details.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) details.push('must contain at least one letter (a-z)');
  if (value.includes('--')) details.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) details.push('must not begin or end with a hyphen');
  return invalidBy(path, value, details);
}

export function portOf(path: string, value: number | string): Problem[] {
  return typeof value === 'number' ? portNumberOf(path, value) : portNameOf(path, value);
}

export function notNegative(path: string, value: number | undefined): Problem[] {
  const detail = 'must be greater than or equal to 0';
  return value !== undefined && value < 0 ? [invalidValue(path, value, detail)] : [];
}

export function addressOf(path: string, value: string): Problem[] {
  if (isIP(value) !== 0) return [];
  return [invalidValue(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

/** Addresses that mean the machine they are used on, or many machines. */
export function specialAddressProblems(path: string, address: string): Problem[] {
  const refuse = (detail: string) => [invalidValue(path, address, detail)];
  if (address === '0.0.0.0' || address === '::') return refuse('may not be unspecified (0.0.0.0 or ::)');
  if (address.startsWith('127.') || address === '::1') {
    return refuse('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (address.startsWith('169.254.') || /^fe[89ab]/i.test(address)) {
    return refuse('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (address.startsWith('224.0.0.') || /^ff02/i.test(address)) {
    return refuse('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return [];
}

/** An address and how many of its bits are fixed; the others are zero. */
export function rangeProblems(path: string, value: string): Problem[] {
  const [ip = '', bits = '', ...more] = value.split('/');
  const family = isIP(ip);
  const width = family === 4 ? 32 : 128;
  if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > width) {
    return [invalidValue(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  }
  if (family === 4 && hasLooseBits(ip, Number(bits))) {
    return [invalidValue(path, value, 'must not have bits set beyond the prefix length')];
  }
  return [];
}

function hasLooseBits(ip: string, bits: number): boolean {
  const value = ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return value % 2 ** (32 - bits) !== 0;
}

/** A key of a ConfigMap or a Secret: it becomes a file's name. */
export function dataKeyProblems(key: string): string[] {
  const details: string[] = [];
  if (key.length > 253) details.push('must be no more than 253 characters');
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    details.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === '.' || key === '..') details.push(`must not be '${key}'`);
  else if (key.startsWith('..')) details.push("must not start with '..'");
  return details;
}

export function unchanged(path: string, value: unknown, old: unknown): Problem[] {
  return jsonEquals(value, old) ? [] : [invalidValue(path, value, immutable)];
}

interface SelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

export function labelSelectorOf(path: string, selector: SelectorObject | undefined): Problem[] {
  if (!selector) return [];
  return [
    ...labelsOf(`${path}.matchLabels`, selector.matchLabels),
    ...eachOf(selector.matchExpressions, `${path}.matchExpressions`, ({ key, operator, values = [] }, at) => [
      ...operatorProblems(at, operator, values),
      ...labelNameOf(`${at}.key`, key),
      ...eachOf(values, `${at}.values`, (value, place) => invalidBy(place, value, labelValueProblems(value))),
    ]),
  ];
}

function operatorProblems(path: string, operator: string, values: readonly string[]): Problem[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [
        {
          field: `${path}.values`,
          reason: 'FieldValueForbidden',
          message: "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        },
      ];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

/** Finalizers that Kubernetes has had since before names had owners. */
const plainFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** All others are named with the domain of who removes them. */
export function finalizerNameProblems(path: string, name: string): Problem[] {
  if (name.includes('/') || plainFinalizers.has(name)) return [];
  return [invalidValue(path, name, 'name is neither a standard finalizer name nor is it fully qualified')];
}
