/** `fetch` over node:http, as much as the SDK uses: the built-in one takes longer to load than a command to run. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Answer, BodyReader, Fetch } from '@hutch/sdk';

const agent = new Agent({ keepAlive: true });

export const httpFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const call = request(url, { method, headers: { ...headers, ...length }, signal, agent });
    call.once('error', reject);
    call.once('response', (message) => resolve(answerOf(message)));
    call.end(body);
  });

function answerOf(message: IncomingMessage): Answer {
  const status = message.statusCode ?? 0;
  const text = async () => {
    message.setEncoding('utf8');
    let all = '';
    for await (const part of message) all += part as string;
    return all;
  };
  return {
    status,
    ok: status >= 200 && status < 300,
    text,
    json: async () => JSON.parse(await text()) as unknown,
    body: { getReader: () => readerOf(message) },
  };
}

function readerOf(message: IncomingMessage): BodyReader {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return {
    read: async () => {
      const { done, value } = await chunks.next();
      return done ? { done: true } : { done: false, value };
    },
    cancel: async () => void message.destroy(),
  };
}
