export type JsonRecord = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is at a path of keys and indexes; undefined when there is no such place. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, key) => {
    if (Array.isArray(found) && typeof key === 'number') return found[key];
    return isRecord(found) ? found[key] : undefined;
  }, value);
}
