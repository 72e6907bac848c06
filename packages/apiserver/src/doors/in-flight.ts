/**
 * How much may be going on at once. Reads and writes are counted apart, so that neither can starve the other;
 * watches and streams are not counted: they wait most of the time. What finds no room is told to come back.
 */
import { type ApiRequest, statusFault } from '@hutch/kube-meta';
import { targetOf } from '../request-target.ts';

export interface DoorLimits {
  readonly maxReads: number;
  readonly maxWrites: number;
  /** Of all bodies that are being read or handled together. */
  readonly maxBodyBytes: number;
}

/** The first two are Kubernetes' own. */
export const defaultLimits: DoorLimits = {
  maxReads: 400,
  maxWrites: 200,
  maxBodyBytes: 128 * 1024 * 1024,
};

export class InFlight {
  readonly #limits: DoorLimits;
  #reads = 0;
  #writes = 0;
  #bodyBytes = 0;

  constructor(limits: DoorLimits) {
    this.#limits = limits;
  }

  /** A place for one request, or undefined when there is none. */
  enter(request: Pick<ApiRequest, 'method' | 'path' | 'query'>): Slot | undefined {
    if (isExempt(request)) return new Slot(this, () => {});
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (this.#reads >= this.#limits.maxReads) return undefined;
      this.#reads++;
      return new Slot(this, () => this.#reads--);
    }
    if (this.#writes >= this.#limits.maxWrites) return undefined;
    this.#writes++;
    return new Slot(this, () => this.#writes--);
  }

  takeBytes(count: number): boolean {
    if (this.#bodyBytes + count > this.#limits.maxBodyBytes) return false;
    this.#bodyBytes += count;
    return true;
  }

  giveBytes(count: number): void {
    this.#bodyBytes -= count;
  }
}

/** The place of one request and of the bytes of its body. Given up once, when it is disposed of. */
export class Slot implements Disposable {
  readonly #inFlight: InFlight;
  #leave: (() => void) | undefined;
  #bytes = 0;

  constructor(inFlight: InFlight, leave: () => void) {
    this.#inFlight = inFlight;
    this.#leave = leave;
  }

  hold(bytes: number): void {
    if (!this.#inFlight.takeBytes(bytes)) throw tooMany();
    this.#bytes += bytes;
  }

  [Symbol.dispose](): void {
    this.#leave?.();
    this.#leave = undefined;
    this.#inFlight.giveBytes(this.#bytes);
    this.#bytes = 0;
  }
}

export function tooMany(): Error {
  const message = 'Too many requests, please try again later.';
  return statusFault('tooManyRequests', message, { retryAfterSeconds: 1 });
}

const streams: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);
const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

function isExempt(request: Pick<ApiRequest, 'method' | 'path' | 'query'>): boolean {
  if (healthPaths.has(request.path)) return true;
  try {
    const target = targetOf(request);
    if (target.type === 'path') return false;
    return target.verb === 'watch' || streams.has(target.subresource ?? '');
  } catch {
    return false; // the handler tells what is wrong with the path
  }
}
