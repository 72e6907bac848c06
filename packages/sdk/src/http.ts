/** Requests to the router: what to send, and what its refusals mean. */
import { Fault, type FaultCode, messageOf } from '@hutch/base';

/** The part of the global `fetch` that is used here, so that a lighter one can stand in for it. */
export type Fetch = (url: string, init: FetchInit) => Promise<Answer>;

export interface FetchInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  text(): Promise<string>;
  json(): Promise<unknown>;
  readonly body: { getReader(): BodyReader } | null;
}

export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

export interface Call {
  /** For messages: what we are doing, to which object. */
  readonly doing: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its query, if any. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

/** Refused by the other side, with the status of its answer. */
export class Refused extends Fault {
  override readonly name: string = 'Refused';
  readonly status: number;
  /** True when the router said so itself: the request went no further. */
  readonly isByRouter: boolean;

  constructor(
    code: FaultCode,
    message: string,
    { status, isByRouter }: { status: number; isByRouter: boolean },
  ) {
    super(code, message);
    this.status = status;
    this.isByRouter = isByRouter;
  }
}

export class Http {
  readonly #url: string;
  readonly #fetch: Fetch;

  constructor(url: string, fetch: Fetch) {
    this.#url = url.replace(/\/+$/, '');
    this.#fetch = fetch;
  }

  /**
   * Resolves with an answer of success whose body is still to be read. Rejects with `Refused` for any other
   * answer, with an `unavailable` fault when there was none, and with `signal.reason` on abort.
   */
  async send({ doing, method = 'GET', path, headers, json, bytes, signal }: Call): Promise<Answer> {
    const body = json === undefined ? bytes : JSON.stringify(json);
    const init: FetchInit = {
      method,
      headers: json === undefined ? { ...headers } : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal,
    };
    let response: Answer;
    try {
      response = await this.#fetch(this.#url + path, init);
    } catch (cause) {
      signal.throwIfAborted();
      throw new Fault('unavailable', `${doing}: reach ${this.#url}: ${reasonOf(cause)}`, { cause });
    }
    if (response.ok) return response;
    throw await refusalOf(doing, response);
  }

  async json<T>(call: Call): Promise<T> {
    return await readJson(await this.send(call), call);
  }
}

/** Reads the whole answer, which also frees its connection for the next request. */
export async function readJson<T>(
  response: Answer,
  { doing, signal }: Pick<Call, 'doing' | 'signal'>,
): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (cause) {
    signal.throwIfAborted();
    throw new Fault('unavailable', `${doing}: read the answer: ${reasonOf(cause)}`, { cause });
  }
}

/** `fetch` says only that it failed; its cause says why. */
export function reasonOf(err: unknown): string {
  const cause = err instanceof Error ? err.cause : undefined;
  return cause === undefined ? messageOf(err) : messageOf(cause);
}

const codes: Readonly<Record<number, FaultCode>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  405: 'unsupported',
  409: 'conflict',
  410: 'expired',
  413: 'too-large',
  415: 'unsupported',
  422: 'invalid',
  429: 'too-many-requests',
  502: 'unavailable',
  503: 'unavailable',
  504: 'timeout',
};

async function refusalOf(doing: string, response: Answer): Promise<Refused> {
  const { status } = response;
  const text = await response.text().catch(() => ''); // the status alone must do then
  const body = parseObject(text);
  // Kubernetes says `message` and `reason`, the runtime `message` and `code`, the router itself `detail`.
  const isByRouter = typeof body?.detail === 'string';
  const said = [body?.message, body?.detail].find((value) => typeof value === 'string');
  const code = body?.reason === 'AlreadyExists' ? 'already-exists' : (codes[status] ?? 'internal');
  const message = `${doing}: ${said ?? (text.slice(0, 200) || `status ${status}`)}`;
  return new Refused(code, message, { status, isByRouter });
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // some proxy's page
  }
}
