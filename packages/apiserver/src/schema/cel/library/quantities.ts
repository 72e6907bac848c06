import { canonicalQuantity, quantityNanos } from '@hutch/kube-meta';
import type { Environment } from '@marcbachmann/cel-js';

const unit = 1_000_000_000n;

class Quantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

function parsed(text: string): Quantity {
  canonicalQuantity(text); // refuses what is no quantity, in its own words
  return new Quantity(quantityNanos(text));
}

function isQuantity(text: string): boolean {
  try {
    return parsed(text) !== undefined;
  } catch {
    return false;
  }
}

export function registerQuantities(env: Environment): void {
  env.registerType('kubernetes.Quantity', { ctor: Quantity });
  const method = (signature: string, handler: (one: Quantity, other: Quantity) => unknown) =>
    env.registerFunction(`kubernetes.Quantity.${signature}`, handler);
  const whole = (value: bigint) => new Quantity(value * unit);

  env.registerFunction('quantity(string): kubernetes.Quantity', parsed);
  env.registerFunction('isQuantity(string): bool', isQuantity);
  env.registerOperator(
    'kubernetes.Quantity == kubernetes.Quantity',
    (a: Quantity, b: Quantity) => a.nanos === b.nanos,
  );
  method('sign(): int', ({ nanos }) => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n));
  method('isGreaterThan(kubernetes.Quantity): bool', (a, b) => a.nanos > b.nanos);
  method('isLessThan(kubernetes.Quantity): bool', (a, b) => a.nanos < b.nanos);
  method('compareTo(kubernetes.Quantity): int', (a, b) =>
    a.nanos > b.nanos ? 1n : a.nanos < b.nanos ? -1n : 0n,
  );
  method('asApproximateFloat(): double', ({ nanos }) => Number(nanos) / 1e9);
  method('isInteger(): bool', ({ nanos }) => nanos % unit === 0n);
  method('asInteger(): int', ({ nanos }) => {
    if (nanos % unit !== 0n) throw new Error('cannot convert value to integer');
    return nanos / unit;
  });
  method('add(kubernetes.Quantity): kubernetes.Quantity', (a, b) => new Quantity(a.nanos + b.nanos));
  method('sub(kubernetes.Quantity): kubernetes.Quantity', (a, b) => new Quantity(a.nanos - b.nanos));
  env.registerFunction(
    'kubernetes.Quantity.add(int): kubernetes.Quantity',
    (a: Quantity, b: bigint) => new Quantity(a.nanos + whole(b).nanos),
  );
  env.registerFunction(
    'kubernetes.Quantity.sub(int): kubernetes.Quantity',
    (a: Quantity, b: bigint) => new Quantity(a.nanos - whole(b).nanos),
  );
}
