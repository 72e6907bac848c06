/** Lists: one state of the store, as a whole or page by page. */
import { type Fault, isFault } from '@hutch/base';
import { type ObjectList, statusFault } from '@hutch/kube-meta';
import type { KeyValue, Storage } from '@hutch/storage';
import { decodeContinue, encodeContinue, type Place } from '../continue-token.ts';
import type { ApiObject } from '../kinds/kind.ts';
import type { ListOptions } from '../options.ts';
import type { Matcher } from '../query.ts';

export interface ListRequest {
  readonly prefix: string;
  readonly options: ListOptions;
  /** Undefined: everything. */
  readonly matches: Matcher | undefined;
}

export interface Page {
  readonly objects: readonly ApiObject[];
  readonly metadata: ObjectList['metadata'];
}

export function listObjects(storage: Storage, request: ListRequest): Page {
  const { prefix, options } = request;
  const place = startOf(storage, options);
  const from = prefix + place.start;
  try {
    return readPage(storage, request, { revision: place.revision, from });
  } catch (err) {
    if (isFault(err, 'timeout')) throw tooLargeVersion(place.revision ?? 0, storage.revision);
    if (!isFault(err, 'expired')) throw err;
    throw options.continueToken === undefined
      ? statusFault('expired', 'The resourceVersion for the provided list is too old.')
      : expiredToken(place.start);
  }
}

function startOf(storage: Storage, options: ListOptions): Place {
  const { continueToken, resourceVersion, isExact } = options;
  if (continueToken !== undefined) {
    const place = decodeContinue(continueToken);
    if (resourceVersion !== undefined) {
      throw statusFault('badRequest', 'specifying resource version is not allowed when using continue');
    }
    return place;
  }
  if (resourceVersion !== undefined && resourceVersion > storage.revision) {
    throw tooLargeVersion(resourceVersion, storage.revision);
  }
  return { revision: isExact ? resourceVersion : undefined, start: '' };
}

function readPage(
  storage: Storage,
  { prefix, options, matches }: ListRequest,
  { revision: at, from }: { revision: number | undefined; from: string },
): Page {
  // Who takes any state is answered from memory as a whole, as Kubernetes does from its cache.
  const limit = options.takesAny ? undefined : options.limit;
  const isPlain = matches === undefined;
  const listed = storage.list(prefix, { at, from, limit: isPlain ? limit : undefined });
  const { taken, objects } = isPlain
    ? { taken: listed.entries.length, objects: listed.entries.map(objectOf) }
    : take(listed.entries, matches, limit ?? Number.POSITIVE_INFINITY);
  const remaining = listed.remaining + listed.entries.length - taken;
  const last = listed.entries[taken - 1]?.key;
  const resourceVersion = String(listed.revision);
  if (remaining === 0 || last === undefined) return { objects, metadata: { resourceVersion } };
  // The next page begins with the first key after the last one, whatever that is by then.
  const start = `${last.slice(prefix.length)}\0`;
  const metadata = {
    resourceVersion,
    continue: encodeContinue({ revision: listed.revision, start }),
    ...(isPlain ? { remainingItemCount: remaining } : {}),
  };
  return { objects, metadata };
}

/** The first objects that match, and how many entries were looked at to find them. */
function take(
  entries: readonly KeyValue[],
  matches: Matcher,
  limit: number,
): { taken: number; objects: ApiObject[] } {
  const objects: ApiObject[] = [];
  for (const [index, entry] of entries.entries()) {
    if (objects.length === limit) return { taken: index, objects };
    const object = objectOf(entry);
    if (matches(object)) objects.push(object);
  }
  return { taken: entries.length, objects };
}

function objectOf({ value }: KeyValue): ApiObject {
  return value as ApiObject;
}

const inconsistent = [
  'The provided continue parameter is too old to display a consistent list result.',
  'You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results.',
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
].join(' ');

/** The client may go on from the same place in whatever state there is now, if it says so. */
function expiredToken(start: string): Error {
  const fault = statusFault('expired', inconsistent);
  const metadata = { continue: encodeContinue({ revision: undefined, start }) };
  return Object.assign(fault, { status: { ...fault.status, metadata } });
}

export function tooLargeVersion(asked: number, current: number): Fault {
  return statusFault('timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
