/** Kubernetes quantities, exactly: a decimal number with a suffix (`500m`, `1.5Gi`) or an exponent (`2e3`). */
import { Fault } from '@hutch/base';

/** Decimal suffixes by their power of ten, binary ones by their power of two. */
const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** Far beyond anything that can be meant; a text of a few bytes must not cost megabytes to compute. */
const maxExponent = 64;
const maxChars = 128;

/**
 * In billionths of a unit, the finest step Kubernetes knows; what is finer is rounded away from zero. An
 * `invalid` fault for a text that is no quantity.
 */
export function quantityNanos(text: string | number): bigint {
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([a-zA-Z]*))$/.exec(String(text).slice(0, maxChars + 1)) ??
    [];
  const power = exponent === undefined ? (own(decimal, suffix) ?? 0) : Number(exponent);
  const isKnown = exponent !== undefined || own(decimal, suffix) !== undefined || own(binary, suffix);
  const isNumber = whole + fraction !== '' && String(text).length <= maxChars;
  if (sign === undefined || !isKnown || !isNumber || Math.abs(power) > maxExponent) {
    throw new Fault('invalid', `quantity ${JSON.stringify(text)}`);
  }
  const digits = BigInt(whole + fraction) << BigInt(own(binary, suffix) ?? 0);
  const nanos = shifted(digits, power - fraction.length + 9);
  return sign === '-' ? -nanos : nanos;
}

/** Negative, zero or positive, as the first is less than, equal to or more than the second. */
export function compareQuantities(a: string | number, b: string | number): number {
  const difference = quantityNanos(a) - quantityNanos(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function shifted(digits: bigint, places: number): bigint {
  if (places >= 0) return digits * 10n ** BigInt(places);
  const divisor = 10n ** BigInt(-places);
  return (digits + divisor - 1n) / divisor;
}

function own(table: Readonly<Record<string, number>>, suffix: string): number | undefined {
  return Object.hasOwn(table, suffix) ? table[suffix] : undefined;
}
