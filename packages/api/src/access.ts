/** How a request names its sandbox to the router, and how a caller gets a token for it. */
export const sandboxHeaders = {
  name: 'x-sandbox-id',
  namespace: 'x-sandbox-namespace',
  port: 'x-sandbox-port',
  podIp: 'x-sandbox-pod-ip',
  uid: 'x-sandbox-uid',
  timeout: 'x-sandbox-timeout',
} as const;

/** Carries a sandbox token; `Authorization: Bearer` is accepted as well. */
export const tokenHeader = 'x-hutch-token';

/** POST here with a Kubernetes bearer token to get a sandbox token. */
export const tokenExchangePath = '/hutch/v1/tokens';

export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  /** Bounded by the router; its default when absent. */
  readonly expiresInSeconds?: number;
}

export interface TokenGrant {
  readonly token: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}
