import type { IncomingMessage } from 'node:http';
import { messageOf } from '@hutch/base';
import { statusFault } from '@hutch/kube-meta';

/** What Kubernetes allows. */
const maxBodyBytes = 3 * 1024 * 1024;

/**
 * The body as a JSON value, or undefined when there is none or when it is something else (the handler answers
 * that). Throws when it is too large or not what it says it is.
 */
export async function readJsonBody(
  incoming: IncomingMessage,
  contentType: string | undefined,
): Promise<unknown> {
  const bytes = await readBytes(incoming);
  if (bytes.length === 0 || !isJson(contentType)) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (err) {
    const message = `the object provided is unrecognized (must be JSON): ${messageOf(err)}`;
    throw statusFault('badRequest', message, undefined, err);
  }
}

function isJson(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase();
  return !type || type === '*/*' || type === 'application/json' || type.endsWith('+json');
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => statusFault('tooLarge', `Request entity too large: limit is ${maxBodyBytes}`);
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // Left undestroyed when we stop early: the refusal has to go out over the same connection, and Node discards
  // what is left of the body, for as long as a request may take.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}
