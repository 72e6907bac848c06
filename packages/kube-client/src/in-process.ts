import { raceAbort } from '@hutch/base';
import type { Handle, User } from '@hutch/kube-meta';
import type { Transport } from './client.ts';

/**
 * A server in this process, asked as `user`. Answers are the server's own frozen objects, not copies.
 *
 * On abort the caller is let go at once; a write that had already reached the server may still happen,
 * exactly as with a connection that is cut.
 */
export function inProcess(handle: Handle, user: User): Transport {
  return (request) => {
    const body = request.body === undefined ? {} : { body: withoutUndefined(request.body) };
    return raceAbort(handle({ ...request, ...body, user }), request.signal);
  };
}

/**
 * A field set to undefined does not exist in JSON, so the server must not see it through this door either.
 * What holds none is passed on as it is.
 */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutUndefined);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const entries = Object.entries(value);
  const kept = entries.flatMap(([name, field]) =>
    field === undefined ? [] : [[name, withoutUndefined(field)] as const],
  );
  const isClean = kept.length === entries.length && kept.every(([, field], i) => field === entries[i]?.[1]);
  return isClean ? value : Object.fromEntries(kept);
}
