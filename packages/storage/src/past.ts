/** Listings of a state that is gone: the present one with the changes since then undone. */
import type { KeyValue, StorageEvent } from './storage.ts';

/** `since`: every change of these entries after the wanted moment, oldest first. */
export function pastEntries(present: readonly KeyValue[], since: readonly StorageEvent[]): KeyValue[] {
  const before = new Map<string, unknown>();
  for (const { key, previous } of since) if (!before.has(key)) before.set(key, previous);
  const untouched = present.filter(({ key }) => !before.has(key));
  const restored = [...before].flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]));
  return [...untouched, ...restored].sort((a, b) => (a.key < b.key ? -1 : 1));
}

export interface Page {
  readonly entries: readonly KeyValue[];
  readonly remaining: number;
}

/** A page of entries that are in the order of their keys. */
export function pageOf(all: readonly KeyValue[], from: string, limit = Number.POSITIVE_INFINITY): Page {
  const found = all.findIndex(({ key }) => key >= from);
  const first = found < 0 ? all.length : found;
  const end = Math.min(all.length, first + limit);
  return { entries: all.slice(first, end), remaining: all.length - end };
}
