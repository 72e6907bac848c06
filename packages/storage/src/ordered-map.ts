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

  /** What begins with `prefix`, in key order: at most `limit` values from the key `from` on, and how many follow. */
  page(prefix: string, from = prefix, limit = Number.POSITIVE_INFINITY): { entries: V[]; remaining: number } {
    const first = this.#firstAtOrAfter(from < prefix ? prefix : from);
    // No key holds a character above this one, so it ends everything that begins with the prefix.
    const end = this.#firstAtOrAfter(`${prefix}\uffff`);
    const count = Math.max(0, Math.min(limit, end - first));
    const entries = this.#keys.slice(first, first + count).map((key) => this.#values.get(key) as V);
    return { entries, remaining: Math.max(0, end - first - count) };
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
