/** From the name of a sandbox to the address of its pod, as the API has it now. */
import type { Admission } from './authenticate.ts';
import { isPodAddress, isSameAddress } from './pod-address.ts';
import { Refusal } from './refusal.ts';
import type { Route, Routes } from './route-table.ts';
import type { SandboxAddress } from './sandbox-address.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
  /** `namespace/name`, for messages. */
  readonly sandbox: string;
  readonly name: string;
}

/** A sandbox on its way is usually there within seconds. */
const retryAfterSeconds = 1;

export function resolve(
  routes: Routes,
  address: SandboxAddress,
  { claims }: Admission,
  options: { readonly allowLoopback?: boolean } = {},
): Target {
  const sandbox = `${address.namespace}/${address.name}`;
  const route = routes.lookup(address.namespace, address.name);
  if (!route) throw new Refusal(404, `sandbox ${sandbox} not found`);
  // A namesake made later, or the same sandbox in another claim's hands, is not what the token is for.
  if (claims && (claims.uid !== route.uid || claims.claimUid !== route.claimUid)) {
    throw new Refusal(403, 'forbidden');
  }
  if (address.uid !== undefined && address.uid !== route.uid) {
    throw new Refusal(404, `sandbox ${sandbox} with uid ${address.uid} not found`);
  }
  const host = hostOf(route, sandbox, options);
  checkBelief(address, route, sandbox);
  return { host, port: address.port, sandbox, name: address.name };
}

function hostOf(route: Route, sandbox: string, options: { readonly allowLoopback?: boolean }): string {
  if (!route.isReady) {
    const why = [route.reason, route.message].filter(Boolean).join(': ');
    throw new Refusal(503, `sandbox ${sandbox} is not ready: ${why}`, { retryAfterSeconds });
  }
  // Whoever may write a status must not be able to point the router at its own machine.
  const host = route.podIps.find((ip) => isPodAddress(ip, options));
  if (host === undefined) throw new Refusal(503, `sandbox ${sandbox} has no usable address`);
  return host;
}

function checkBelief({ podIp }: SandboxAddress, route: Route, sandbox: string): void {
  if (podIp === undefined || route.podIps.some((ip) => isSameAddress(ip, podIp))) return;
  throw new Refusal(403, `${podIp} is not an address of sandbox ${sandbox}`);
}
