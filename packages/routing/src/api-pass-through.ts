/**
 * The API paths a program with only the router's address needs: our own groups, and a sandbox pod's log.
 * They are handed over as they are, with the caller's own credential; what it may do there, RBAC decides.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sandboxHeaders } from '@hutch/api';
import { awaitsContinue, type Exchange, pathOfRequest } from './exchange.ts';

/** The API server's HTTP door. Settles when its answer is complete. */
export type ApiDoor = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Names and versions as they are spelled plainly: nothing here needs an escape, so nothing may hide in one. */
const groupPath = /^\/apis\/(?:extensions\.)?agents\.x-k8s\.io(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const logPath = /^\/api\/v1\/namespaces\/[a-z0-9][a-z0-9.-]*\/pods\/[a-z0-9][a-z0-9.-]*\/log$/;

export function isApiRequest({ request, upgrade }: Exchange): boolean {
  if (request.headers[sandboxHeaders.name] !== undefined || upgrade) return false;
  const path = pathOfRequest(request);
  return groupPath.test(path) || (request.method === 'GET' && logPath.test(path));
}

export async function passToApi(api: ApiDoor, { request, response }: Exchange): Promise<void> {
  if (awaitsContinue(request)) response.writeContinue();
  await api(request, response);
}
