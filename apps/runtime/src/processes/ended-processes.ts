import type { ManagedProcess } from './managed-process.ts';

/** Ended processes are kept for re-attach within all three. */
export interface EndedLimits {
  readonly maxEnded: number;
  readonly maxEndedBytes: number;
  readonly keepEndedMs: number;
}

interface Entry {
  readonly managed: ManagedProcess;
  /** As counted when it ended: a late acknowledgement lets it hold less. */
  readonly bytes: number;
  readonly endedAt: number;
}

/** Processes that are over, oldest first, for callers that lost their connection at the end. */
export class EndedProcesses {
  readonly #limits: EndedLimits;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: EndedLimits) {
    this.#limits = limits;
  }

  get(id: string): ManagedProcess | undefined {
    return this.#entries.get(id)?.managed;
  }

  add(managed: ManagedProcess): void {
    const bytes = managed.heldBytes;
    this.#entries.set(managed.id, { managed, bytes, endedAt: performance.now() });
    this.#bytes += bytes;
    this.#evict();
  }

  /** One timer for the oldest: a timer each would hold on to what was evicted long before. */
  #evict(): void {
    clearTimeout(this.#timer);
    for (const [id, { bytes, endedAt }] of this.#entries) {
      const leftMs = endedAt + this.#limits.keepEndedMs - performance.now();
      const isWithin =
        this.#entries.size <= this.#limits.maxEnded && this.#bytes <= this.#limits.maxEndedBytes;
      if (isWithin && leftMs > 0) {
        this.#timer = setTimeout(() => this.#evict(), leftMs).unref();
        return;
      }
      this.#entries.delete(id);
      this.#bytes -= bytes;
    }
  }
}
