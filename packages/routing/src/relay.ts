/** One attempt of an exchange: what the client library reports, turned into the client's answer. */
import type { Duplex, PassThrough } from 'node:stream';
import type { Dispatcher } from 'undici';
import { awaitsContinue, type Exchange } from './exchange.ts';
import { headersForClient } from './forwarded-headers.ts';
import { tunnel } from './tunnel.ts';

type Controller = Dispatcher.DispatchController;

export class Relay implements Dispatcher.DispatchHandler {
  readonly body: PassThrough | null;
  /** Settles when the answer is complete, or the tunnel closed. */
  readonly done: Promise<void>;
  /** From here on, the sandbox may have seen the request. */
  isConnected = false;
  readonly #exchange: Exchange;
  readonly #idleMs: number;
  readonly #resolve: (value: void | Promise<void>) => void;
  readonly #reject: (err: unknown) => void;
  #release = () => {};

  constructor(exchange: Exchange, { body, idleMs }: { body: PassThrough | null; idleMs: number }) {
    this.#exchange = exchange;
    this.body = body;
    this.#idleMs = idleMs;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    promise.catch(() => {}); // a client that has gone leaves nobody to await it
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Controller): void {
    const { signal } = this.#exchange;
    this.isConnected = true;
    const onAbort = () => controller.abort(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#release = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else if (this.body) this.#sendBody(this.body);
  }

  onResponseStart(controller: Controller, status: number, _headers: unknown, statusText?: string): void {
    const { response } = this.#exchange;
    const raw = rawPairs(controller.rawHeaders);
    if (status < 200) {
      this.#inform(status, raw);
      return;
    }
    response.sendDate = false; // the sandbox's own head, nothing added
    response.on('drain', () => controller.resume());
    response.writeHead(status, reasonPhrase(statusText), headersForClient(raw));
    // The head must not wait for a body that may come much later, but goes out with one that is here already.
    process.nextTick(() => response.flushHeaders());
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (!this.#exchange.response.write(chunk)) controller.pause();
  }

  onResponseEnd(controller: Controller): void {
    const { response } = this.#exchange;
    const trailers = rawPairs(controller.rawTrailers);
    if (trailers.length > 0 && response.chunkedEncoding) {
      response.addTrailers(
        pairsOf(headersForClient(trailers)).filter(([name]) => name.toLowerCase() !== 'content-length'),
      );
    }
    response.end();
    this.#settle(() => this.#resolve());
  }

  onRequestUpgrade(controller: Controller, status: number, _headers: unknown, socket: Duplex): void {
    const { response, upgrade, signal } = this.#exchange;
    if (!upgrade) throw new Error('a tunnel was opened for a request that asked for none');
    const head = headOf(status, rawPairs(controller.rawHeaders));
    response.detachSocket(upgrade.socket as never);
    upgrade.socket.write(head, 'latin1');
    this.#settle(() => this.#resolve(tunnel(upgrade, socket, { idleMs: this.#idleMs, signal })));
  }

  onResponseError(_controller: Controller | null, err: Error): void {
    this.#settle(() => this.#reject(err));
  }

  #sendBody(body: PassThrough): void {
    const { request, response } = this.#exchange;
    if (awaitsContinue(request)) response.writeContinue();
    request.pipe(body);
  }

  #settle(outcome: () => void): void {
    this.#release();
    outcome();
  }

  /** Interim answers pass as far as they can be spoken here; the final one follows in any case. */
  #inform(status: number, raw: readonly string[]): void {
    const { request, response } = this.#exchange;
    if (request.httpVersionMinor === 0 && request.httpVersionMajor === 1) return;
    if (status === 102) response.writeProcessing();
    if (status === 103) {
      const hints = hintsOf(raw);
      if (hints.link.length > 0) response.writeEarlyHints(hints);
    }
  }
}

/** A sandbox may write anything there; what cannot be said in HTTP is left out, since nobody needs it. */
function reasonPhrase(text = ''): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : '';
}

/** Header lines as the client library keeps them: buffers or strings, name and value by turns. */
function rawPairs(raw: Controller['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string]);
}

function hintsOf(raw: readonly string[]): { link: string[] } {
  return { link: pairsOf(raw).flatMap(([name, value]) => (name.toLowerCase() === 'link' ? [value] : [])) };
}

function headOf(status: number, raw: readonly string[]): string {
  const upgrade = pairsOf(raw).find(([name]) => name.toLowerCase() === 'upgrade')?.[1] ?? '';
  const lines = pairsOf(['Connection', 'Upgrade', 'Upgrade', upgrade, ...headersForClient(raw)]);
  return `HTTP/1.1 ${status} Switching Protocols\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
