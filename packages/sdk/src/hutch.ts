import type { Fetch } from './http.ts';
import { Http } from './http.ts';
import { SandboxApi, type TokenProvider } from './sandbox-api.ts';
import { Sandboxes } from './sandboxes.ts';

export interface HutchOptions {
  /** The router's address: everything goes through it. */
  readonly url: string;
  /** A Kubernetes bearer token, or how to get the current one. */
  readonly token: string | TokenProvider;
  /** Where sandboxes are when a call does not say. */
  readonly namespace?: string | undefined;
  /** Instead of the global one. */
  readonly fetch?: Fetch | undefined;
}

/** A home of sandboxes, on this machine or on a cluster. Holds no connection of its own: nothing to close. */
export class Hutch {
  readonly sandboxes: Sandboxes;

  constructor({ url, token, namespace = 'default', fetch = globalThis.fetch }: HutchOptions) {
    const http = new Http(url, fetch);
    const provider = typeof token === 'string' ? () => token : token;
    const api = new SandboxApi(http, provider);
    this.sandboxes = new Sandboxes({ http, api, token: provider, namespace });
  }
}
