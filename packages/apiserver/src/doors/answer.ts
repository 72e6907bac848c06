/** An object as the answer to an HTTP request: its text, its headers, packed when that is worth it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { ApiResponse, ObjectList, Status } from '@hutch/kube-meta';

const pack = promisify(gzip);

/** Below this, packing costs both sides more than it saves. Kubernetes draws the line here too. */
const packedFromBytes = 128 * 1024;

type ObjectResponse = Extract<ApiResponse, { type: 'object' }>;

export async function writeObject(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  response: ObjectResponse,
): Promise<void> {
  const { status, object } = response;
  if (status === 204) {
    outgoing.writeHead(204, { 'Cache-Control': 'no-cache, private' });
    outgoing.end();
    return;
  }
  const isText = typeof object === 'string';
  const body = isText ? object : `${JSON.stringify(wireObject(response), null, indentFor(incoming))}\n`;
  const headers: Record<string, string | string[]> = {
    'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    'Cache-Control': 'no-cache, private',
    ...(isText ? { 'X-Content-Type-Options': 'nosniff' } : {}),
    ...response.headers,
    ...warningHeader(response.warnings ?? []),
  };
  const retryAfter = isText ? undefined : (object as Partial<Status>).details?.retryAfterSeconds;
  if (status >= 400 && retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);

  const bytes = Buffer.from(body);
  const isPacked = bytes.length >= packedFromBytes && acceptsGzip(incoming);
  const sent = isPacked ? await pack(bytes, { level: constants.Z_BEST_SPEED }) : bytes;
  if (isPacked) Object.assign(headers, { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
  outgoing.writeHead(status, { ...headers, 'Content-Length': sent.length });
  outgoing.end(incoming.method === 'HEAD' ? undefined : sent);
}

/** The items of a list of a built-in kind do not repeat what the list has said of them. */
function wireObject({ object, hasUniformItems = false }: ObjectResponse): unknown {
  if (!hasUniformItems) return object;
  const list = object as ObjectList;
  return { ...list, items: list.items.map(({ apiVersion: _, kind: __, ...item }) => item) };
}

/** One `Warning` line each. */
export function warningHeader(warnings: readonly string[]): Record<string, string[]> {
  if (warnings.length === 0) return {};
  return { Warning: warnings.map((warning) => `299 - ${quoted(warning)}`) };
}

function quoted(text: string): string {
  const printable = text.replaceAll(/[^\x20-\x7e]/g, '?'); // a header holds no more
  return `"${printable.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part));
}

const peoplesAgents = ['curl', 'Wget', 'Mozilla/5.0'];

/** People who look at answers with their own eyes get them in lines; others may ask for it. */
function indentFor({ url = '', headers }: IncomingMessage): number {
  const asked = /[?&]pretty=([^&]*)/.exec(url)?.[1];
  if (asked) return ['1', 't', 'true'].includes(asked.toLowerCase()) ? 2 : 0;
  const agent = headers['user-agent'] ?? '';
  return peoplesAgents.some((known) => agent.startsWith(known)) ? 2 : 0;
}
