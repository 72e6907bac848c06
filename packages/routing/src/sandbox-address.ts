/** Which sandbox a request is for, from its `X-Sandbox-*` headers. */
import type { IncomingHttpHeaders } from 'node:http';
import { sandboxHeaders } from '@hutch/api';
import { runtimePort } from '@hutch/runtime-protocol';
import { isPodAddress } from './pod-address.ts';
import { Refusal } from './refusal.ts';

export interface SandboxAddress {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** What the client believes; checked against the API, never used to reach anything. */
  readonly podIp: string | undefined;
  readonly uid: string | undefined;
}

const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && label.test(text);
}

/** Throws the refusal of the first header that is wrong. An empty optional header counts as absent. */
export function readSandboxAddress(
  headers: IncomingHttpHeaders,
  options: { readonly allowLoopback?: boolean } = {},
): SandboxAddress {
  const read = (name: string) => (headers[name] as string | undefined) || undefined;

  const name = read(sandboxHeaders.name);
  if (name === undefined) throw new Refusal(400, 'X-Sandbox-ID header is required.');
  if (!isDnsLabel(name)) throw new Refusal(400, 'Invalid sandbox ID format.');

  const namespace = read(sandboxHeaders.namespace) ?? 'default';
  if (!isDnsLabel(namespace)) throw new Refusal(400, 'Invalid namespace format.');

  const port = portOf(read(sandboxHeaders.port) ?? String(runtimePort));
  if (port === undefined) throw new Refusal(400, 'Invalid port format.');

  const podIp = read(sandboxHeaders.podIp);
  if (podIp !== undefined && !isPodAddress(podIp, options)) {
    throw new Refusal(400, 'Invalid target IP address.');
  }
  return { namespace, name, port, podIp, uid: read(sandboxHeaders.uid) };
}

/** Digits with an optional sign, as the original router reads them. */
function portOf(text: string): number | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}
