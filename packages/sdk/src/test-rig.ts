/**
 * A router, its API and a runtime in one small HTTP server, as far as the tests beside it need them: real
 * connections, frames and offsets, and cuts wherever a test asks for one.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeFrame, type ProcessExited, type StartProcess } from '@hutch/runtime-protocol';
import { Hutch } from './hutch.ts';
import type { Sandbox } from './sandbox.ts';
import type { SandboxObject } from './sandbox-api.ts';

export interface Script {
  readonly stdout?: Uint8Array;
  readonly stderr?: Uint8Array;
  readonly exit?: ProcessExited;
  readonly frameBytes?: number;
  /** How many bytes of frames each connection carries before it is cut; those after the list are whole. */
  readonly cuts?: readonly number[];
  /** How many bytes of stdin each request gets through before it is cut. */
  readonly stdinCuts?: readonly number[];
  /** The process exits when stdin ends. */
  readonly exitsWithStdin?: boolean;
  /** The process exits when somebody says that they read this many bytes of its stdout. */
  readonly exitsWhenAcknowledged?: number;
  /** Before a message about what was read is answered. */
  readonly beforeAcknowledged?: () => Promise<void>;
  /** The process closes its stdin after this many bytes. */
  readonly stdinLimit?: number;
  /** The first start does not run but fails like this. */
  readonly failure?: { reason: 'not-found' | 'not-executable'; message: string };
}

type Route = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void;

export class FakeHome implements AsyncDisposable {
  readonly objects = new Map<string, SandboxObject>();
  readonly requests: string[] = [];
  readonly starts: StartProcess[] = [];
  readonly signals: string[] = [];
  readonly acknowledged: { stdout: number; stderr: number }[] = [];
  /** Bytes of stdin, as the process saw them. */
  stdin = Buffer.alloc(0);
  isStdinEnded = false;
  /** What the next requests meet before anything else; each is used once. */
  readonly refusals: { path: RegExp; status: number; body: unknown }[] = [];
  tokens = 0;
  /** How long a token lives. */
  tokenSeconds = 3600;
  watches: ServerResponse[] = [];
  url = '';
  readonly #script: Script;
  readonly #cuts: number[];
  readonly #stdinCuts: number[];
  readonly #exited = Promise.withResolvers<void>();
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response);
  });
  #revision = 0;
  #watchers: (() => void)[] = [];

  constructor(script: Script) {
    this.#script = script;
    this.#cuts = [...(script.cuts ?? [])];
    this.#stdinCuts = [...(script.stdinCuts ?? [])];
    if (!script.exitsWithStdin && !script.exitsWhenAcknowledged) this.#exited.resolve();
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  get hutch(): Hutch {
    return new Hutch({ url: this.url, token: 'kube' });
  }

  /** Stores a version and tells all watches. */
  put(object: SandboxObject, type: 'ADDED' | 'MODIFIED' | 'DELETED' = 'MODIFIED'): SandboxObject {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } };
    if (type === 'DELETED') this.objects.delete(object.metadata.name);
    else this.objects.set(object.metadata.name, stored);
    for (const watch of this.watches) watch.write(`${JSON.stringify({ type, object: stored })}\n`);
    return stored;
  }

  /** Resolves when the next watch is open. */
  async nextWatch(): Promise<ServerResponse> {
    if (this.watches.length === 0) await new Promise<void>((resolve) => this.#watchers.push(resolve));
    return this.watches[0] as ServerResponse;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    this.requests.push(`${request.method} ${request.url}`);
    const refusal = this.refusals.findIndex(({ path }) => path.test(url.pathname));
    if (refusal >= 0) {
      const { status, body } = this.refusals.splice(refusal, 1)[0] as (typeof this.refusals)[number];
      return void json(response, body, status);
    }
    const routes: [RegExp, Route][] = [
      [/^POST \/hutch\/v1\/tokens$/, (_request, res) => this.#grant(res)],
      [/^POST \/apis\/.*\/sandboxes$/, (req, res) => this.#create(req, res)],
      [/^GET \/apis\/.*\/sandboxes$/, (_request, res, at) => this.#list(res, at)],
      [/^GET \/apis\/.*\/sandboxes\/[^/]+$/, (_request, res, at) => this.#get(res, at)],
      [/^DELETE \/apis\/.*\/sandboxes\/[^/]+$/, (req, res, at) => this.#delete(req, res, at)],
      [/^GET \/api\/.*\/log$/, (_request, res, at) => void res.end(`log ${at.pathname}${at.search}`)],
      [/^POST \/hutch\/v1\/processes$/, (req, res) => this.#start(req, res)],
      [/^GET \/hutch\/v1\/processes\/p1\/output$/, (_request, res, at) => this.#attach(res, at)],
      [/^PUT \/hutch\/v1\/processes\/p1\/stdin$/, (req, res, at) => this.#takeStdin(req, res, at)],
      [/^POST \/hutch\/v1\/processes\/p1\/\w+$/, (req, res, at) => this.#command(req, res, at)],
    ];
    const found = routes.find(([pattern]) => pattern.test(`${request.method} ${url.pathname}`));
    if (!found) return void json(response, { message: 'no such path' }, 404);
    await found[1](request, response, url);
  }

  #grant(response: ServerResponse): void {
    this.tokens++;
    const expiresAt = new Date(Date.now() + this.tokenSeconds * 1000).toISOString();
    json(response, { token: `t${this.tokens}`, expiresAt });
  }

  async #create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const draft = JSON.parse(await text(request)) as SandboxObject;
    const { name } = draft.metadata;
    if (this.objects.has(name)) {
      return void json(
        response,
        { kind: 'Status', reason: 'AlreadyExists', message: `"${name}" already exists` },
        409,
      );
    }
    const metadata = { ...draft.metadata, uid: `uid-${name}`, generation: 1 };
    json(response, this.put({ ...draft, metadata }, 'ADDED'), 201);
  }

  #list(response: ServerResponse, url: URL): void {
    if (url.searchParams.get('watch') === 'true') this.#watch(response, url);
    else json(response, { items: [...this.objects.values()] });
  }

  #watch(response: ServerResponse, url: URL): void {
    this.watches.push(response);
    response.once('close', () => {
      this.watches = this.watches.filter((watch) => watch !== response);
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const since = Number(url.searchParams.get('resourceVersion'));
    for (const object of this.objects.values()) {
      if (Number(object.metadata.resourceVersion) > since) {
        response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      }
    }
    for (const tell of this.#watchers.splice(0)) tell();
  }

  #get(response: ServerResponse, url: URL): void {
    const object = this.objects.get(url.pathname.split('/').at(-1) as string);
    if (object) json(response, object);
    else json(response, { kind: 'Status', reason: 'NotFound', message: 'sandbox not found' }, 404);
  }

  async #delete(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const object = this.objects.get(url.pathname.split('/').at(-1) as string);
    await text(request);
    if (!object)
      return json(response, { kind: 'Status', reason: 'NotFound', message: 'sandbox not found' }, 404);
    this.put(object, 'DELETED');
    json(response, { kind: 'Status', status: 'Success' });
  }

  async #start(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.starts.push(JSON.parse(await text(request)) as StartProcess);
    const { failure } = this.#script;
    if (failure) return void response.end(encodeFrame({ type: 'failed', failure }));
    response.write(encodeFrame({ type: 'started', process: { id: 'p1', pid: 7 } }));
    await this.#stream(response, { stdout: 0, stderr: 0 });
  }

  async #attach(response: ServerResponse, url: URL): Promise<void> {
    const offset = (name: string) => Number(url.searchParams.get(name));
    await this.#stream(response, { stdout: offset('stdout'), stderr: offset('stderr') });
  }

  /** Frames from these offsets on, both streams by turns, cut where the script says. */
  async #stream(response: ServerResponse, at: { stdout: number; stderr: number }): Promise<void> {
    const { frameBytes = 1000, exit = { exitCode: 0 } } = this.#script;
    let left = this.#cuts.shift() ?? Number.POSITIVE_INFINITY;
    const send = async (bytes: Uint8Array): Promise<boolean> => {
      const part = bytes.subarray(0, left);
      left -= part.length;
      const isRoom = response.write(part);
      if (left <= 0) {
        // Only what has left us can be on its way when the connection breaks.
        response.end = (() => response) as typeof response.end;
        await new Promise<void>((resolve) => response.write('', () => resolve()));
        response.destroy();
        return false;
      }
      if (!isRoom) await drained(response);
      return !response.destroyed;
    };
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const type of ['stdout', 'stderr'] as const) {
        const data = (this.#script[type] ?? new Uint8Array()).subarray(at[type], at[type] + frameBytes);
        if (data.length === 0) continue;
        isMore = true;
        const offset = at[type];
        at[type] += data.length;
        if (!(await send(encodeFrame({ type, offset, data })))) return;
      }
    }
    await Promise.race([this.#exited.promise, once(response, 'close')]);
    if (response.destroyed) return;
    if (await send(encodeFrame({ type: 'exited', exit }))) response.end();
  }

  async #takeStdin(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const offset = Number(url.searchParams.get('offset'));
    if (offset > this.stdin.length) return json(response, { code: 'conflict', message: 'gap' }, 409);
    const bytes = await buffer(request);
    const cut = this.#stdinCuts.shift();
    const taken = cut === undefined ? bytes : bytes.subarray(0, cut);
    const limit = this.#script.stdinLimit ?? Number.POSITIVE_INFINITY;
    this.stdin = Buffer.concat([this.stdin, taken.subarray(this.stdin.length - offset)]);
    if (cut !== undefined) return void response.destroy();
    if (url.searchParams.get('end') === 'true') {
      this.isStdinEnded = true;
      this.#exited.resolve();
    }
    json(response, { received: this.stdin.length, ...(this.stdin.length >= limit ? { closed: true } : {}) });
  }

  async #command(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const body = JSON.parse(await text(request)) as { signal: string } & { stdout: number; stderr: number };
    if (url.pathname.endsWith('/signal')) {
      this.signals.push(body.signal);
      this.#exited.resolve();
    }
    if (url.pathname.endsWith('/acknowledge')) {
      this.acknowledged.push(body);
      await this.#script.beforeAcknowledged?.();
      if (body.stdout >= (this.#script.exitsWhenAcknowledged ?? 0)) this.#exited.resolve();
    }
    json(response, {});
  }
}

export async function startHome(script: Script = {}): Promise<FakeHome> {
  return await new FakeHome(script).listen();
}

export function withReady(
  object: SandboxObject,
  condition: Partial<NonNullable<NonNullable<SandboxObject['status']>['conditions']>[number]> = {},
): SandboxObject {
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'DependenciesReady',
    message: 'Pod is Ready',
    lastTransitionTime: '2030-01-01T00:00:00Z',
    observedGeneration: 1,
    ...condition,
  } as const;
  return { ...object, status: { conditions: [ready] } };
}

/** A sandbox that was ready before anybody asked. */
export async function heldSandbox(home: FakeHome): Promise<Sandbox> {
  const metadata = {
    name: 'a',
    namespace: 'default',
    uid: 'uid-a',
    resourceVersion: '0',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
  };
  const spec = { podTemplate: { spec: { containers: [] } } };
  home.put(withReady({ apiVersion: 'agents.x-k8s.io/v1beta1', kind: 'Sandbox', metadata, spec }), 'ADDED');
  return await home.hutch.sandboxes.get('a');
}

/** Resolves when more may be written, or never will. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function buffer(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function text(request: IncomingMessage): Promise<string> {
  return (await buffer(request)).toString('utf8');
}
