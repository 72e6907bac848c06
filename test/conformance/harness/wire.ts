/** A plain HTTP/1.1 client that hides nothing: what a case sends is what goes out, what comes back is what it sees. */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { RawRequest, RawResponse, RawWatch } from './target.ts';

export interface WireOptions {
  readonly url: string;
  /** PEM; for https. */
  readonly ca?: string | undefined;
  readonly token: string;
  readonly maxConnections?: number;
}

export interface Wire extends Disposable {
  send(request: RawRequest, signal: AbortSignal): Promise<RawResponse>;
  watch(request: RawRequest, signal: AbortSignal): Promise<RawWatch>;
}

export function openWire({ url, ca, token, maxConnections = 64 }: WireOptions): Wire {
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === 'https:';
  const pool = { keepAlive: true, maxSockets: maxConnections };
  // Watches have connections of their own: a waiting one must not keep a request from going out.
  const agents = isTls
    ? [new HttpsAgent({ ...pool, ca }), new HttpsAgent({ ca })]
    : [new HttpAgent(pool), new HttpAgent()];

  function begin({ method, path, headers, body }: RawRequest, agent: HttpAgent, signal: AbortSignal) {
    const options = {
      hostname,
      port,
      method,
      path,
      agent,
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
    };
    const request = isTls ? httpsRequest(options) : httpRequest(options);
    request.end(body);
    return request;
  }

  const [shared, apart] = agents as [HttpAgent, HttpAgent];
  return {
    async send(request, signal) {
      return await answerOf(await responseOf(begin(request, shared, signal)));
    },
    async watch(request, signal) {
      const response = await responseOf(begin(request, apart, signal));
      // A stream has no length: what has one is an ordinary answer.
      const isStream = response.statusCode === 200 && response.headers['content-length'] === undefined;
      if (!isStream) return { type: 'answer', response: await answerOf(response) };
      return { type: 'events', events: lines(response) };
    },
    [Symbol.dispose]() {
      for (const agent of agents) agent.destroy();
    },
  };
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', reject); // stays: an abort after the answer has begun is told here too
  });
}

async function answerOf(response: IncomingMessage): Promise<RawResponse> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += chunk as string;
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    headers[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return { status: response.statusCode ?? 0, headers, body: parsed(text, headers['content-type']) };
}

function parsed(text: string, type: string | readonly string[] | undefined): unknown {
  if (text === '' || !String(type).includes('json')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // a text that only says it is JSON is a difference for the comparison to show
  }
}

async function* lines(response: IncomingMessage): AsyncGenerator<unknown, void, void> {
  let rest = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      const parts = (rest + (chunk as string)).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) yield JSON.parse(line);
    }
  } finally {
    response.destroy();
  }
}
