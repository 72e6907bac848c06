/**
 * Requests into one sandbox, through the router, with a sandbox token that is exchanged once and renewed
 * before it expires.
 */
import { sandboxHeaders, type TokenGrant, tokenExchangePath, tokenHeader } from '@hutch/api';
import { Backoff, pause, raceAbort } from '@hutch/base';
import { type Answer, type Call, type Http, Refused, readJson } from './http.ts';
import type { TokenProvider } from './sandbox-api.ts';

export interface ConnectionDeps {
  readonly http: Http;
  readonly token: TokenProvider;
  readonly sandbox: { readonly namespace: string; readonly name: string; readonly uid: string };
}

export interface SandboxCall extends Omit<Call, 'headers'> {
  /**
   * Ask again for a moment when the router says the sandbox is not there. It learns of a sandbox from the
   * same events as we do, maybe a little later. Safe for any request: the router has passed nothing on.
   */
  readonly isFirstContact?: boolean;
}

interface Grant {
  readonly token: string;
  readonly renewAt: number;
}

/** A token is renewed this long before it expires. */
const renewMs = 60_000;
const exchangeMs = 10_000;
const neverAborted = new AbortController().signal;
/** How far the router may be behind what we have seen. */
const routerLagMs = 3_000;

export class Connection {
  readonly #deps: ConnectionDeps;
  #grant: Grant | undefined;
  #exchanging: Promise<Grant> | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  /** Gets the token ahead of its first use. A failure is told by that use, which asks again. */
  prepare(): void {
    this.#validGrant(neverAborted).catch(() => {});
  }

  async send({ isFirstContact = false, ...call }: SandboxCall): Promise<Answer> {
    return await (isFirstContact ? patiently(() => this.#send(call), call.signal) : this.#send(call));
  }

  async json<T>(call: SandboxCall): Promise<T> {
    return await readJson(await this.send(call), call);
  }

  /** A token the router no longer takes (its keys changed, or our clock is wrong) is replaced once. */
  async #send(call: Call): Promise<Answer> {
    const grant = await this.#validGrant(call.signal);
    try {
      return await this.#sendWith(grant, call);
    } catch (err) {
      if (!(err instanceof Refused && err.status === 401 && err.isByRouter)) throw err;
    }
    if (this.#grant === grant) this.#grant = undefined;
    return await this.#sendWith(await this.#validGrant(call.signal), call);
  }

  async #sendWith({ token }: Grant, call: Call): Promise<Answer> {
    const { http, sandbox } = this.#deps;
    const headers = {
      [sandboxHeaders.name]: sandbox.name,
      [sandboxHeaders.namespace]: sandbox.namespace,
      [sandboxHeaders.uid]: sandbox.uid,
      [tokenHeader]: token,
    };
    return await http.send({ ...call, headers });
  }

  /** One exchange for all who wait; nobody's abort takes it from the others. */
  #validGrant(signal: AbortSignal): Promise<Grant> {
    if (this.#grant && Date.now() < this.#grant.renewAt) return Promise.resolve(this.#grant);
    if (!this.#exchanging) {
      this.#exchanging = this.#exchange().finally(() => {
        this.#exchanging = undefined;
      });
      this.#exchanging.catch(() => {}); // told to those who still wait
    }
    return raceAbort(this.#exchanging, signal);
  }

  async #exchange(): Promise<Grant> {
    const { http, sandbox, token } = this.#deps;
    const { namespace, name } = sandbox;
    const signal = AbortSignal.timeout(exchangeMs);
    const authorization = `Bearer ${await token()}`;
    const grant = await patiently(
      () =>
        http.json<TokenGrant>({
          doing: `get a token for sandbox ${namespace}/${name}`,
          method: 'POST',
          path: tokenExchangePath,
          headers: { authorization },
          json: { namespace, name },
          signal,
        }),
      signal,
    );
    this.#grant = { token: grant.token, renewAt: Date.parse(grant.expiresAt) - renewMs };
    return this.#grant;
  }
}

async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const backoff = new Backoff(5, 250);
  const until = performance.now() + routerLagMs;
  for (;;) {
    try {
      return await ask();
    } catch (err) {
      const isNotThere =
        err instanceof Refused && err.isByRouter && (err.status === 404 || err.status === 503);
      if (!isNotThere || performance.now() > until) throw err;
    }
    await pause(backoff.nextMs(), signal);
  }
}
