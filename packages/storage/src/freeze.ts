/**
 * Freezes a JSON value to its leaves. Frozen parts are walked as well: a caller may hand in an object of which
 * only the top is frozen, and a walk costs far less than writing the value as text.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
