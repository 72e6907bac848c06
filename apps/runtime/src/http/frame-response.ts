import type { ServerResponse } from 'node:http';
import { encodeFrame, type Frame, framesContentType } from '@hutch/runtime-protocol';
import type { FrameSink } from '../processes/stream-output.ts';

/** On a quiet stream nothing else tells a peer that vanished from one that waits. */
const aliveEveryMs = 15_000;

/** A response that carries frames. */
export class FrameResponse implements FrameSink, Disposable {
  readonly #response: ServerResponse;
  readonly #aliveTimer: NodeJS.Timeout;
  #isQuiet = true;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, { 'content-type': framesContentType, 'cache-control': 'no-store' });
    response.flushHeaders();
    this.#aliveTimer = setInterval(() => {
      if (this.#isQuiet && !response.writableNeedDrain) response.write(encodeFrame({ type: 'alive' }));
      this.#isQuiet = true;
    }, aliveEveryMs);
  }

  write(frame: Frame): Promise<void> {
    const response = this.#response;
    this.#isQuiet = false;
    if (response.write(encodeFrame(frame))) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#aliveTimer);
  }
}
