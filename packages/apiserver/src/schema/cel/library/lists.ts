import type { Environment } from '@marcbachmann/cel-js';

type List = readonly unknown[] | ReadonlySet<unknown>;
type Ordered = bigint | number | string;

function itemsOf(list: List): unknown[] {
  return [...list];
}

export function registerLists(env: Environment): void {
  env.registerFunction('list.isSorted(): bool', (list: List) => {
    const items = itemsOf(list) as Ordered[];
    return items.every((item, at) => at === 0 || (items[at - 1] as Ordered) <= item);
  });
  env.registerFunction('list.sum(): dyn', (list: List) => {
    const items = itemsOf(list);
    if (typeof items[0] === 'number') return (items as number[]).reduce((sum, item) => sum + item, 0);
    return (items as bigint[]).reduce((sum, item) => sum + item, 0n);
  });
  env.registerFunction('list.min(): dyn', (list: List) => extreme(list, 'min', (a, b) => a < b));
  env.registerFunction('list.max(): dyn', (list: List) => extreme(list, 'max', (a, b) => a > b));
  env.registerFunction('list.indexOf(dyn): int', (list: List, item: unknown) =>
    BigInt(itemsOf(list).indexOf(item)),
  );
  env.registerFunction('list.lastIndexOf(dyn): int', (list: List, item: unknown) =>
    BigInt(itemsOf(list).lastIndexOf(item)),
  );
  env.registerFunction('list.slice(int, int): list', (list: List, from: bigint, to: bigint) => {
    const items = itemsOf(list);
    if (from < 0n || from > to || to > BigInt(items.length)) throw new Error('index out of range');
    return items.slice(Number(from), Number(to));
  });
  env.registerFunction('list.distinct(): list', (list: List) => [...new Set(itemsOf(list))]);
  env.registerFunction('list.reverse(): list', (list: List) => itemsOf(list).reverse());
  env.registerFunction('list.flatten(): list', (list: List) => itemsOf(list).flat());
  registerSets(env);
}

function extreme(list: List, name: string, isBetter: (a: Ordered, b: Ordered) => boolean): unknown {
  const [first, ...rest] = itemsOf(list) as Ordered[];
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first);
}

/** `sets.contains`, `sets.equivalent` and `sets.intersects`: methods of a thing that has no other use. */
function registerSets(env: Environment): void {
  class Sets {}
  env.registerType('Sets', Sets);
  env.registerConstant('sets', 'Sets', new Sets());
  const has = (list: List, item: unknown) => itemsOf(list).some((one) => isSame(one, item));
  const contains = (list: List, part: List) => itemsOf(part).every((item) => has(list, item));
  env.registerFunction('Sets.contains(list, list): bool', (_: Sets, list: List, part: List) =>
    contains(list, part),
  );
  env.registerFunction(
    'Sets.equivalent(list, list): bool',
    (_: Sets, a: List, b: List) => contains(a, b) && contains(b, a),
  );
  env.registerFunction('Sets.intersects(list, list): bool', (_: Sets, a: List, b: List) =>
    itemsOf(b).some((item) => has(a, item)),
  );
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const text = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) =>
      typeof one === 'bigint' ? `${one}n` : one instanceof Map ? [...one].sort() : one,
    );
  return typeof a === 'object' && typeof b === 'object' && text(a) === text(b);
}
