/**
 * An HTTP/1.1 client for load: one connection, one request at a time, and as little work per answer as can be, so that
 * on a small machine the server is what is measured. Knows only what the two API servers send.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Endpoint {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly token: string;
}

export interface LeanRequest {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

export class LeanClient implements Disposable {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #token: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: string) => void; reject: (err: Error) => void } | undefined;

  private constructor(socket: Socket, { url, token }: Endpoint) {
    this.#socket = socket;
    this.#host = new URL(url).host;
    this.#token = token;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (err) => this.#waiting?.reject(err));
    socket.on('close', () => this.#waiting?.reject(new Error(`connection to ${url} closed`)));
  }

  static async open(endpoint: Endpoint): Promise<LeanClient> {
    const { protocol, hostname, port } = new URL(endpoint.url);
    const isTls = protocol === 'https:';
    const socket = isTls
      ? connectTls({ host: hostname, port: Number(port), ca: endpoint.ca })
      : connectPlain({ host: hostname, port: Number(port) });
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => {
      socket.once(isTls ? 'secureConnect' : 'connect', resolve);
      socket.once('error', reject);
    });
    return new LeanClient(socket, endpoint);
  }

  /** The body of a successful answer; anything else is thrown. */
  request({ method, path, type = 'application/json', body = '' }: LeanRequest): Promise<string> {
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAuthorization: Bearer ${this.#token}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(head + body);
    });
  }

  [Symbol.dispose](): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = answerIn(this.#received);
    if (!answer) return;
    this.#received = this.#received.subarray(answer.length);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (answer.status < 300) waiting?.resolve(answer.body);
    else waiting?.reject(new Error(`answered with ${answer.status}: ${answer.body.slice(0, 300)}`));
  }
}

/** The answer that a buffer begins with, once all of it is there. */
function answerIn(received: Buffer): { status: number; body: string; length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const status = Number(head.slice(9, 12));
  const start = headEnd + 4;
  const sized = /\r\ncontent-length: (\d+)/i.exec(head);
  if (sized) {
    const length = start + Number(sized[1]);
    if (received.length < length) return undefined;
    return { status, body: received.toString('utf8', start, length), length };
  }
  return chunkedIn(received, start, status);
}

function chunkedIn(received: Buffer, start: number, status: number) {
  let body = '';
  for (let at = start; ; ) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (received.length < next) return undefined;
    if (size === 0) return { status, body, length: next };
    body += received.toString('utf8', lineEnd + 2, lineEnd + 2 + size);
    at = next;
  }
}
