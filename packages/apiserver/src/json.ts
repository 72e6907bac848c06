export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same object without some members. */
export function omit<T extends object, K extends string>(object: T, ...keys: K[]): Omit<T, K> {
  const rest = { ...object } as Record<string, unknown>;
  for (const key of keys) delete rest[key];
  return rest as Omit<T, K>;
}
