/** JSON merge patch (RFC 7386), both ways. Nothing here changes its arguments; unchanged parts are shared. */
type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/**
 * Deeper values than this are refused rather than followed: the depth comes from a caller, the stack is ours.
 * (Kubernetes' own decoder stops at 10,000.)
 */
const maxDepth = 1_000;

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(object: JsonObject, key: string): Json {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Plain assignment to `__proto__` would replace the prototype instead of making a member of that name. */
function put(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

/** What `target` becomes under `patch`: null removes a member, an object is merged, all else replaces. */
export function mergePatch(target: Json, patch: Json): Json {
  return merge(target, patch, 0);
}

function merge(target: Json, patch: Json, depth: number): Json {
  if (!isObject(patch)) return patch;
  if (depth > maxDepth) throw new RangeError(`merge patch is nested deeper than ${maxDepth}`);
  const base = isObject(target) ? target : {};
  const result: Record<string, Json> = { ...base };
  for (const key of Object.keys(patch)) {
    const change = own(patch, key);
    if (change === undefined) continue; // an in-process caller's way to leave a member out
    if (change === null) delete result[key];
    else put(result, key, merge(own(base, key), change, depth + 1));
  }
  return result;
}

/**
 * The smallest merge patch that turns `from` into `to`, or undefined when they are equal already.
 *
 * A merge patch cannot say "set this member to null", so members of `to` that are null count as absent.
 */
export function mergeDiff(from: Json, to: Json): Json | undefined {
  if (!isObject(from) || !isObject(to)) return jsonEquals(from, to) ? undefined : to;
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(from)) {
    if (own(to, key) === undefined || own(to, key) === null) put(patch, key, null);
  }
  for (const key of Object.keys(to)) {
    const after = own(to, key);
    if (after === null || after === undefined) continue;
    const before = own(from, key);
    // An object that replaces something else is itself read as a patch, so it is made from nothing.
    const change = mergeDiff(isObject(after) && !isObject(before) ? {} : before, after);
    if (change !== undefined) put(patch, key, change);
    else if (!isObject(before) && isObject(after)) put(patch, key, {});
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Equality of JSON values. The order of members does not matter, an undefined member counts as absent. */
export function jsonEquals(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => jsonEquals(value, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of Object.keys(a)) if (!jsonEquals(own(a, key), own(b, key))) return false;
  for (const key of Object.keys(b)) if (own(b, key) !== undefined && own(a, key) === undefined) return false;
  return true;
}
