/** A map by text key that can be read in key order from any point. */
export class OrderedMap<V> {
  readonly #values = new Map<string, V>();
  readonly #keys: string[] = [];

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    // Moving the tail of one flat array is a memory copy: at a hundred thousand keys still some tens of µs.
    if (!this.#values.has(key)) this.#keys.splice(this.#firstAtOrAfter(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#firstAtOrAfter(key), 1);
  }

  /** Everything whose key begins with `prefix`, in key order. */
  withPrefix(prefix: string): V[] {
    const found: V[] = [];
    for (let at = this.#firstAtOrAfter(prefix); at < this.#keys.length; at++) {
      const key = this.#keys[at] as string;
      if (!key.startsWith(prefix)) break;
      found.push(this.#values.get(key) as V);
    }
    return found;
  }

  #firstAtOrAfter(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    // Loading appends keys that are already in order.
    if (high > 0 && (this.#keys[high - 1] as string) < key) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
