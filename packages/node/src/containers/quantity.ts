/** Kubernetes resource quantities: a decimal number with a suffix. */
import { Fault } from '@hutch/base';

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** As a number of units: `500m` is 0.5, `1Gi` is 1073741824. An `invalid` fault for anything else. */
export function parseQuantity(text: string | number): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([a-zA-Z]*))$/.exec(String(text).trim());
  const factor = factors[match?.[3] ?? ''];
  if (!match || factor === undefined) throw new Fault('invalid', `quantity ${JSON.stringify(text)}`);
  return Number(`${match[1]}${match[2] ?? ''}`) * factor;
}
