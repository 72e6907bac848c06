/** What changes in the headers on their way through. Everything else keeps its order, case and repetitions. */
import type { IncomingMessage } from 'node:http';

/** Name, value, name, value…, as received. */
export type RawHeaders = readonly string[];

/** They speak of one connection, not of the message. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
]);

/** Set by us, so that a sandbox can believe them. */
const replaced = new Set(['host', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']);

export interface RequestHeaderOptions {
  /** `host:port` of the sandbox. */
  readonly authority: string;
  /** The header that admitted the request, in lower case. */
  readonly credentialHeader: string;
  readonly isUpgrade: boolean;
}

export function headersForSandbox(request: IncomingMessage, options: RequestHeaderOptions): string[] {
  const dropped = namedByConnection(request.headers.connection);
  const keep = (name: string) =>
    !hopByHop.has(name) &&
    !replaced.has(name) &&
    !dropped.has(name) &&
    name !== options.credentialHeader &&
    name !== 'expect' && // answered by us when the body may come
    !(options.isUpgrade && name === 'origin'); // the origin is the router's, which no sandbox knows
  const headers = filterRaw(request.rawHeaders, keep);
  if (hasToken(request.headers.te, 'trailers')) headers.push('TE', 'trailers');
  headers.push('Host', options.authority);
  headers.push('X-Forwarded-For', peerOf(request));
  if (request.headers.host !== undefined) headers.push('X-Forwarded-Host', request.headers.host);
  headers.push('X-Forwarded-Proto', 'encrypted' in request.socket ? 'https' : 'http');
  return headers;
}

export function headersForClient(raw: RawHeaders): string[] {
  const connection: string[] = [];
  let hasLength = false;
  eachPair(raw, (name, value) => {
    if (name.toLowerCase() === 'connection') connection.push(value);
    if (name.toLowerCase() === 'content-length') hasLength = true;
  });
  const dropped = namedByConnection(connection.join(','));
  // Trailers we pass on are announced; without chunks there can be none.
  const keep = (name: string) =>
    (!hopByHop.has(name) || (name === 'trailer' && !hasLength)) && !dropped.has(name);
  return filterRaw(raw, keep);
}

function filterRaw(raw: RawHeaders, keep: (lowerName: string) => boolean): string[] {
  const kept: string[] = [];
  eachPair(raw, (name, value) => {
    if (keep(name.toLowerCase())) kept.push(name, value);
  });
  return kept;
}

function eachPair(raw: RawHeaders, visit: (name: string, value: string) => void): void {
  for (let i = 0; i + 1 < raw.length; i += 2) visit(raw[i] as string, raw[i + 1] as string);
}

function namedByConnection(connection: string | undefined): Set<string> {
  return new Set(tokensOf(connection));
}

export function hasToken(header: string | string[] | undefined, token: string): boolean {
  return tokensOf(Array.isArray(header) ? header.join(',') : header).includes(token);
}

function tokensOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter(Boolean);
}

/** An IPv4 client on a dual-stack listener is still an IPv4 client. */
function peerOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
}
