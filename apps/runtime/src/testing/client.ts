/** A small, strict client of the process API for the suites: every frame is checked as it arrives. */
import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import {
  type Frame,
  FrameDecoder,
  framesContentType,
  type OutputRead,
  type ProcessStarted,
  processesPath,
  type StartProcess,
} from '@hutch/runtime-protocol';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface Collected {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly outcome: Frame | undefined;
}

export class RuntimeClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: false });

  constructor(port: number) {
    this.#port = port;
  }

  async start(wanted: StartProcess): Promise<OutputReader> {
    const response = await this.#send('POST', processesPath, JSON.stringify(wanted));
    return new OutputReader(response, { stdout: 0, stderr: 0 });
  }

  async run(command: readonly string[], options: Omit<StartProcess, 'command'> = {}): Promise<Collected> {
    return (await this.start({ command, ...options })).collect();
  }

  async reattach(id: string, from: OutputRead): Promise<OutputReader> {
    const query = `stdout=${from.stdout}&stderr=${from.stderr}`;
    return new OutputReader(await this.#send('GET', `${processesPath}/${id}/output?${query}`), from);
  }

  putStdin(id: string, bytes: Uint8Array | Readable, query: string): Promise<Answer> {
    return this.ask('PUT', `${processesPath}/${id}/stdin?${query}`, bytes);
  }

  post(id: string, what: string, body: unknown): Promise<Answer> {
    return this.ask('POST', `${processesPath}/${id}/${what}`, JSON.stringify(body));
  }

  async ask(method: string, path: string, body?: string | Uint8Array | Readable): Promise<Answer> {
    const response = await this.#send(method, path, body);
    const content = await text(response);
    return { status: response.statusCode ?? 0, body: content === '' ? undefined : JSON.parse(content) };
  }

  /** Bytes as they are, for what no HTTP client would send. Resolves with all that came back. */
  raw(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(this.#port, '127.0.0.1', () => socket.end(bytes));
      socket.setEncoding('latin1').on('data', (chunk) => {
        answer += String(chunk);
      });
      socket.on('error', (err) => (answer === '' ? reject(err) : resolve(answer)));
      socket.on('close', () => resolve(answer));
    });
  }

  async #send(method: string, path: string, body?: string | Uint8Array | Readable): Promise<IncomingMessage> {
    const sent = request({ host: '127.0.0.1', port: this.#port, method, path, agent: this.#agent });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve).on('error', reject);
    });
    if (body instanceof Readable) pipeline(body, sent).catch(() => {});
    else sent.end(body);
    return answered;
  }
}

export class OutputReader {
  readonly #response: IncomingMessage;
  readonly #frames: AsyncGenerator<Frame, void, void>;
  readonly position: { stdout: number; stderr: number };

  constructor(response: IncomingMessage, from: OutputRead) {
    this.#response = response;
    this.position = { ...from };
    this.#frames = this.#read();
  }

  async started(): Promise<ProcessStarted> {
    const frame = await this.next();
    assert.equal(frame?.type, 'started', JSON.stringify(frame));
    return frame.process;
  }

  /** The next frame that says something. */
  async next(): Promise<Frame | undefined> {
    const { value } = await this.#frames.next();
    return value ?? undefined;
  }

  /** Reads on until stdout, since this call, fits. */
  async until(pattern: RegExp): Promise<string> {
    let seen = '';
    while (!pattern.test(seen)) {
      const frame = await this.next();
      assert.ok(frame, `the stream ended before ${pattern}: ${JSON.stringify(seen)}`);
      assert.ok('data' in frame, `${JSON.stringify(frame)} before ${pattern}: ${JSON.stringify(seen)}`);
      if (frame.type === 'stdout') seen += Buffer.from(frame.data).toString();
    }
    return seen;
  }

  async collect(): Promise<Collected> {
    const stdout: Uint8Array[] = [];
    const stderr: Uint8Array[] = [];
    let outcome: Frame | undefined;
    for await (const frame of this.#frames) {
      if (frame.type === 'stdout') stdout.push(frame.data);
      else if (frame.type === 'stderr') stderr.push(frame.data);
      else if (frame.type !== 'started') outcome = frame;
    }
    return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr), outcome };
  }

  /** Cuts the connection as a broken network would. */
  cut(): void {
    this.#response.destroy();
  }

  async *#read(): AsyncGenerator<Frame, void, void> {
    const { statusCode, headers } = this.#response;
    if (statusCode !== 200) assert.fail(`status ${statusCode}: ${await text(this.#response)}`);
    assert.equal(headers['content-type'], framesContentType);
    const decoder = new FrameDecoder();
    for await (const chunk of this.#response) {
      for (const frame of decoder.decode(chunk as Uint8Array)) {
        if (frame.type === 'alive') continue;
        if ('data' in frame) {
          assert.equal(frame.offset, this.position[frame.type], 'a frame begins where the last one ended');
          this.position[frame.type] += frame.data.length;
        }
        yield frame;
      }
    }
    assert.ok(decoder.isAtBoundary, 'the stream ends between frames');
  }
}
