import type { Driver } from '../driver.ts';
import type { Storage } from '../storage.ts';
import { Store, type StoreOptions } from '../store.ts';

/** Remembers nothing: the store's own memory is all there is. */
const forgetful: Driver = {
  load: () => ({ entries: [], history: [] }),
  commit: () => Promise.resolve(),
  close: () => {},
};

/** A store that ends with its process: for tests and for homes that are swept away whole. */
export function openMemoryStorage(options: StoreOptions = {}): Storage {
  return new Store(forgetful, options);
}
