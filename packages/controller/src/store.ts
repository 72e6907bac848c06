import { type KubeObject, keyOf, keyText, type ObjectKey } from '@hutch/kube-meta';

/** The values an object is found under. */
export type IndexOf<T> = (object: T) => readonly string[];

/** Objects of one kind by key, and by whatever else they are looked up by. Holds, never decides. */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #byNamespace: Index<T>;
  readonly #indexes: ReadonlyMap<string, Index<T>>;

  constructor(indexes: Readonly<Record<string, IndexOf<T>>> = {}) {
    this.#byNamespace = new Index((object) => [object.metadata.namespace ?? '']);
    this.#indexes = new Map(Object.entries(indexes).map(([name, valuesOf]) => [name, new Index(valuesOf)]));
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key));
  }

  list(namespace?: string): readonly T[] {
    return namespace === undefined ? [...this.#objects.values()] : this.#byNamespace.find(namespace);
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`no index named ${name}`);
    return index.find(value);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  put(object: T): void {
    this.remove(keyOf(object));
    const key = keyText(keyOf(object));
    this.#objects.set(key, object);
    for (const index of this.#all()) index.add(key, object);
  }

  remove(key: ObjectKey): void {
    const text = keyText(key);
    const object = this.#objects.get(text);
    if (!object) return;
    this.#objects.delete(text);
    for (const index of this.#all()) index.remove(text, object);
  }

  #all(): readonly Index<T>[] {
    return [this.#byNamespace, ...this.#indexes.values()];
  }
}

class Index<T> {
  readonly #valuesOf: IndexOf<T>;
  readonly #found = new Map<string, Map<string, T>>();

  constructor(valuesOf: IndexOf<T>) {
    this.#valuesOf = valuesOf;
  }

  find(value: string): readonly T[] {
    return [...(this.#found.get(value)?.values() ?? [])];
  }

  add(key: string, object: T): void {
    for (const value of this.#valuesOf(object)) {
      const same = this.#found.get(value);
      if (same) same.set(key, object);
      else this.#found.set(value, new Map([[key, object]]));
    }
  }

  remove(key: string, object: T): void {
    for (const value of this.#valuesOf(object)) {
      const same = this.#found.get(value);
      if (same?.delete(key) && same.size === 0) this.#found.delete(value); // values come and go: keep none empty
    }
  }
}
