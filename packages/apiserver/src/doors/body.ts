import type { IncomingMessage } from 'node:http';
import { type ApiRequest, statusFault } from '@hutch/kube-meta';
import { mediaType } from '../decode.ts';
import { protobufMediaType } from '../protobuf/envelope.ts';
import type { Slot } from './in-flight.ts';

/** What Kubernetes allows. */
const maxBodyBytes = 3 * 1024 * 1024;

/** Bytes where they are protobuf, else text; none when it is empty. */
type ReceivedBody = Pick<ApiRequest, 'body' | 'bodyText'>;

/** Throws when it is too large for us, or for what else is going on. */
export async function readBody(incoming: IncomingMessage, slot: Slot): Promise<ReceivedBody> {
  const tooLarge = () => statusFault('tooLarge', `Request entity too large: limit is ${maxBodyBytes}`);
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // Left undestroyed when we stop early: the refusal has to go out over the same connection, and Node discards
  // what is left of the body, for as long as a request may take.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw tooLarge();
    slot.hold(chunk.length);
    chunks.push(chunk);
  }
  if (length === 0) return {};
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  const isBinary = mediaType(incoming.headers['content-type']) === protobufMediaType;
  return isBinary ? { body } : { bodyText: body.toString('utf8') };
}
