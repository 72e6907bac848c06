import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault, type FaultCode, isFault, messageOf } from '@hutch/base';
import type { RuntimeError } from '@hutch/runtime-protocol';

/** Larger than any command line the kernel would take. */
const maxBodyBytes = 4 << 20;

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > maxBodyBytes) throw new Fault('too-large', `body of more than ${maxBodyBytes} bytes`);
    parts.push(part);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
  } catch (cause) {
    throw new Fault('invalid', 'body is not JSON', { cause });
  }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

const statusOf: Partial<Record<FaultCode, number>> = {
  invalid: 400,
  forbidden: 403,
  'not-found': 404,
  unsupported: 405,
  conflict: 409,
  expired: 410,
  'too-large': 413,
  'too-many-requests': 429,
};

/** The one place where an error becomes an answer. What we did not expect is our fault, never the caller's. */
export function sendError(response: ServerResponse, err: unknown): void {
  if (response.headersSent) {
    response.destroy(); // half an answer: only a cut connection tells the truth
    return;
  }
  const code: FaultCode = isFault(err) ? err.code : 'internal';
  const body: RuntimeError = { code, message: messageOf(err) };
  response.setHeader('connection', 'close'); // the rest of the request's body, if any, is not read
  sendJson(response, body, statusOf[code] ?? 500);
}
