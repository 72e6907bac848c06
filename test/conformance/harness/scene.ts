/**
 * What a case works with: one target, a namespace and a word of its own, and verbs that write down what was answered.
 *
 * Nothing is asserted here: the transcript is compared with that of another server. A case that must wait does so
 * through `settled`, which is not written down, since how long a server takes is its own affair.
 */
import { pause } from '@hutch/base';
import { at, isRecord, type JsonRecord } from './json.ts';
import { Normaliser } from './normalise.ts';
import type { RawRequest, RawResponse, Target } from './target.ts';
import type { Step, Transcript } from './transcript.ts';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is written down of the body, where the rest is not the case's business. */
  readonly show?: (body: unknown) => unknown;
  /** Also write down these headers of the answer. Warnings always are. */
  readonly showHeaders?: readonly string[];
}

export interface Watching {
  /** Writes down the next events. */
  expect(count: number, options?: { readonly show?: (event: JsonRecord) => unknown }): Promise<JsonRecord[]>;
  /** Writes down all that comes before the event it looks for, and that one. */
  until(isLast: (event: JsonRecord) => boolean): Promise<void>;
  /** Writes down all that comes until the server ends the watch. */
  toEnd(): Promise<JsonRecord[]>;
  close(): Promise<void>;
}

export const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const stepTimeoutMs = 30_000;

export class Scene {
  /** Unique to this run; what must be unique in the whole cluster has it in its name. */
  readonly id: string;
  readonly namespace: string;
  readonly #target: Target;
  /** Aborted when the case has had its time. */
  readonly signal: AbortSignal;
  readonly #normaliser: Normaliser;
  readonly #steps: Step[] = [];
  readonly #cleanups: (() => Promise<void>)[] = [];

  constructor(target: Target, id: string, signal: AbortSignal) {
    this.id = id;
    this.namespace = `case-${id}`;
    this.#target = target;
    this.signal = signal;
    this.#normaliser = new Normaliser({ [this.namespace]: '<ns>', [id]: '<id>' });
  }

  get transcript(): Transcript {
    return this.#steps;
  }

  /** The path of a resource in this scene's namespace: `in('configmaps', 'a')`, `in('apps/v1/deployments')`. */
  in(resource: string, ...rest: readonly string[]): string {
    const parts = resource.split('/');
    const [group, version] = parts.length === 3 ? parts : ['', 'v1'];
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    return [`${root}/namespaces/${this.namespace}/${parts.at(-1)}`, ...rest].join('/');
  }

  // ---- verbs that are written down ---------------------------------------------------------------------------

  get(path: string, options?: CallOptions): Promise<RawResponse> {
    return this.#call('GET', path, undefined, options);
  }

  post(path: string, body: unknown, options?: CallOptions): Promise<RawResponse> {
    return this.#call('POST', path, body, options);
  }

  put(path: string, body: unknown, options?: CallOptions): Promise<RawResponse> {
    return this.#call('PUT', path, body, options);
  }

  patch(
    type: keyof typeof patchTypes,
    path: string,
    body: unknown,
    options: CallOptions = {},
  ): Promise<RawResponse> {
    const headers = { 'content-type': patchTypes[type], ...options.headers };
    return this.#call('PATCH', path, body, { ...options, headers });
  }

  delete(path: string, body?: unknown, options?: CallOptions): Promise<RawResponse> {
    return this.#call('DELETE', path, body, options);
  }

  /** Any method, and a body of any text. */
  async send(
    request: Partial<RawRequest> & Pick<RawRequest, 'method' | 'path'>,
    options: CallOptions = {},
  ): Promise<RawResponse> {
    const path = withQuery(request.path, options.query);
    const response = await this.#raw({ headers: {}, ...request, path });
    this.#write(request.method, path, response, options);
    return response;
  }

  /** Something the case found out itself. */
  note(step: string, fact: unknown): void {
    this.#steps.push({ step: this.#normaliser.text(step), fact: this.#normaliser.answer(plain(fact)) });
  }

  /** A watch, begun when this resolves. A refusal is written down. */
  async watch(path: string, options: CallOptions = {}): Promise<Watching> {
    const stop = new AbortController();
    const query = withQuery(path, { watch: 'true', ...options.query });
    const signal = AbortSignal.any([this.signal, stop.signal]);
    const request: RawRequest = { method: 'GET', path: query, headers: options.headers ?? {} };
    const opened = await this.#target.watch(request, signal);
    if (opened.type === 'answer') this.#write('GET', query, opened.response, options);
    const events = opened.type === 'events' ? opened.events : noEvents();
    const close = async () => {
      stop.abort();
      await events.return?.().catch(() => {});
    };
    this.#cleanups.push(close);
    return this.#watching(`watch ${this.#normaliser.request(query)}`, events, close);
  }

  // ---- waiting and preparing, not written down ---------------------------------------------------------------

  /** A request that only prepares. Fails when the target refuses. */
  async prepare(
    method: RawRequest['method'],
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<JsonRecord> {
    const response = await this.#raw({
      method,
      path,
      headers: { ...jsonHeaders(body), ...headers },
      body: textOf(body),
    });
    if (response.status >= 300) {
      const reason = JSON.stringify(response.body).slice(0, 500);
      throw new Error(`prepare ${method} ${path}: ${response.status} ${reason}`);
    }
    return response.body as JsonRecord;
  }

  /** What is there now; undefined when nothing is. */
  async peek(path: string): Promise<JsonRecord | undefined> {
    const { status, body } = await this.#raw({ method: 'GET', path, headers: {} });
    return status === 200 && isRecord(body) ? body : undefined;
  }

  /**
   * Resolves with the object at `path` once it is as wanted, or is gone (`undefined` is what `isSettled` sees then).
   * Follows a watch of that one object, so it wakes when the server tells, not on a clock.
   */
  async settled(
    path: string,
    isSettled: (object: JsonRecord | undefined) => boolean,
  ): Promise<JsonRecord | undefined> {
    const slash = path.lastIndexOf('/');
    const collection = path.slice(0, slash);
    const deadline = AbortSignal.any([this.signal, AbortSignal.timeout(stepTimeoutMs)]);
    for (;;) {
      deadline.throwIfAborted();
      const { body } = await this.#raw({
        method: 'GET',
        path: withQuery(collection, { fieldSelector: `metadata.name=${path.slice(slash + 1)}` }),
        headers: {},
      });
      const found = at(body, 'items', 0);
      const current = isRecord(found) ? found : undefined;
      if (isSettled(current)) return current;
      await this.#changed(
        collection,
        path.slice(slash + 1),
        String(at(body, 'metadata', 'resourceVersion')),
        deadline,
      );
    }
  }

  async gone(path: string): Promise<void> {
    await this.settled(path, (object) => object === undefined);
    this.note(`gone ${path}`, true);
  }

  /** Runs after the case, the last one first. A clean-up that fails is not the case's concern. */
  afterwards(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(async () => void (await cleanup()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cleanup of this.#cleanups.reverse()) await cleanup().catch(() => {});
  }

  /** Returns at the first change after `revision`; also when the watch ends for another reason. */
  async #changed(collection: string, name: string, revision: string, deadline: AbortSignal): Promise<void> {
    const query = { watch: 'true', resourceVersion: revision, fieldSelector: `metadata.name=${name}` };
    const opened = await this.#target.watch(
      { method: 'GET', path: withQuery(collection, query), headers: {} },
      deadline,
    );
    if (opened.type === 'answer')
      throw new Error(`watch ${collection}: ${JSON.stringify(opened.response.body)}`);
    try {
      await opened.events.next();
    } catch {
      deadline.throwIfAborted(); // a server may cut a watch off at any time: look again
    }
    await opened.events.return?.();
  }

  async #call(
    method: RawRequest['method'],
    path: string,
    body: unknown,
    options: CallOptions = {},
  ): Promise<RawResponse> {
    const full = withQuery(path, options.query);
    const headers = { ...jsonHeaders(body), ...options.headers };
    const response = await this.#raw({ method, path: full, headers, body: textOf(body) });
    this.#write(method, full, response, options);
    return response;
  }

  async #raw(request: RawRequest): Promise<RawResponse> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(stepTimeoutMs)]);
    for (;;) {
      const response = await this.#target.send(request, signal);
      if (!isStillStarting(response)) return response;
      await pause(50, signal);
    }
  }

  #write(method: string, path: string, response: RawResponse, { show, showHeaders = [] }: CallOptions): void {
    const headers: JsonRecord = {};
    for (const name of ['warning', ...(this.#target.can('bytes') ? showHeaders : [])]) {
      if (response.headers[name] !== undefined)
        headers[name] = this.#normaliser.answer(response.headers[name]);
    }
    // Normalised whole and shown in part: a token must not depend on what a case cares to see.
    const whole = this.#normaliser.answer(response.body);
    this.#steps.push({
      step: `${method} ${this.#normaliser.request(path)}`,
      status: response.status,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      body: show ? plain(show(whole)) : whole,
    });
  }

  #watching(step: string, events: AsyncIterator<unknown, void, void>, close: () => Promise<void>): Watching {
    const take = async (isEnough: (taken: readonly JsonRecord[]) => boolean): Promise<JsonRecord[]> => {
      const taken: JsonRecord[] = [];
      while (!isEnough(taken)) {
        const { done, value } = await inTime(events.next(), `event ${taken.length + 1} of ${step}`);
        if (done) break;
        taken.push(value as JsonRecord);
      }
      return taken;
    };
    const write = (
      label: string,
      taken: readonly JsonRecord[],
      show: (event: JsonRecord) => unknown = (event) => event,
    ) => {
      const shown = taken.map((event) => plain(show(this.#normaliser.event(event) as JsonRecord)));
      this.#steps.push({ step: label, events: shown });
    };
    return {
      expect: async (count, { show } = {}) => {
        const taken = await take(({ length }) => length >= count);
        write(step, taken, show);
        return taken;
      },
      until: async (isLast) => {
        write(step, await take((taken) => taken.length > 0 && isLast(taken.at(-1) as JsonRecord)));
      },
      toEnd: async () => {
        const taken = await take(() => false);
        write(`${step} to its end`, taken);
        return taken;
      },
      close,
    };
  }
}

/** As a recording keeps it: what is undefined is not there. */
function plain(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}

/** The real server asks for patience while it fills the cache of a kind that is new. That says nothing of semantics. */
function isStillStarting({ status, body }: RawResponse): boolean {
  return status === 429 && String(at(body, 'message')).includes('storage is (re)initializing');
}

function jsonHeaders(body: unknown): Record<string, string> {
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

function textOf(body: unknown): string | undefined {
  return body === undefined ? undefined : JSON.stringify(body);
}

function withQuery(path: string, query: CallOptions['query']): string {
  if (!query) return path;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of typeof value === 'string' ? [value] : value) search.append(name, one);
  }
  return `${path}${path.includes('?') ? '&' : '?'}${search}`;
}

async function* noEvents(): AsyncGenerator<never, void, void> {}

async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`waited ${stepTimeoutMs / 1000} s for ${what}`)),
      stepTimeoutMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
