/** Making, finding and removing sandboxes. */
import { isConditionTrue, type NewSandboxOptions, newSandbox } from '@hutch/api';
import { ignoring } from '@hutch/base';
import { Connection } from './connection.ts';
import { type Http, Refused } from './http.ts';
import { type Limits, within } from './limits.ts';
import { type Readiness, readinessOf, SandboxFailed } from './readiness.ts';
import { Sandbox } from './sandbox.ts';
import type { SandboxApi, SandboxObject, TokenProvider } from './sandbox-api.ts';

export interface CreateOptions extends Omit<NewSandboxOptions, 'name' | 'namespace'> {
  /** Made up when absent. */
  readonly name?: string | undefined;
  /** What a made-up name begins with. */
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
}

/** What happens on the way to a ready sandbox, in this order; `waiting` comes as often as there is news. */
export type Stage =
  | { readonly type: 'created'; readonly name: string }
  | { readonly type: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly type: 'scheduled' }
  | { readonly type: 'ready' };

export interface CreateLimits extends Limits {
  readonly onStage?: ((stage: Stage) => void) | undefined;
}

export interface InNamespace extends Limits {
  readonly namespace?: string | undefined;
}

export interface SandboxesDeps {
  readonly http: Http;
  readonly api: SandboxApi;
  readonly token: TokenProvider;
  readonly namespace: string;
}

const defaultCreateMs = 300_000;
const defaultCallMs = 30_000;
/** How long a sandbox that failed to start may take to remove, before its failure is told anyway. */
const cleanUpMs = 5_000;

export class Sandboxes {
  readonly #deps: SandboxesDeps;

  constructor(deps: SandboxesDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a sandbox and resolves when it is ready. When it cannot become ready, or not in time, or the
   * signal aborts, it is removed again and the call rejects: with `SandboxFailed`, a `timeout` fault, or the
   * signal's reason.
   */
  async create(options: CreateOptions = {}, limits: CreateLimits = {}): Promise<Sandbox> {
    const { namespace = this.#deps.namespace, generateName = 'sandbox-', ...rest } = options;
    const name = options.name ?? generateName + randomSuffix();
    const call = { ...limits, timeoutMs: limits.timeoutMs ?? defaultCreateMs };
    return await this.#untilReady(`${namespace}/${name}`, call, async (signal) => {
      const created = await this.#post({ ...rest, name, namespace }, options.name === undefined, signal);
      limits.onStage?.({ type: 'created', name });
      return { object: created, isOurs: true };
    });
  }

  /** When the answer is lost, it may have been made all the same; under a made-up name it can only be ours. */
  async #post(options: NewSandboxOptions, isNameOurs: boolean, signal: AbortSignal): Promise<SandboxObject> {
    const { namespace, name } = options;
    try {
      return await this.#deps.api.create(namespace, newSandbox(options), signal);
    } catch (err) {
      if (isNameOurs && !(err instanceof Refused)) await this.#cleanUp({ namespace, name });
      throw err;
    }
  }

  /** A sandbox that is there, as soon as it is ready. */
  async connect(name: string, limits: CreateLimits & InNamespace = {}): Promise<Sandbox> {
    const { namespace = this.#deps.namespace } = limits;
    const call = { ...limits, timeoutMs: limits.timeoutMs ?? defaultCreateMs };
    return await this.#untilReady(`${namespace}/${name}`, call, async (signal) => ({
      object: await this.#deps.api.get(namespace, name, signal),
      isOurs: false,
    }));
  }

  /** A sandbox that is there, whatever its state. */
  async get(name: string, limits: InNamespace = {}): Promise<Sandbox> {
    const { namespace = this.#deps.namespace } = limits;
    return await this.#call(limits, `get sandbox ${namespace}/${name}`, async (signal) =>
      this.#handle(await this.#deps.api.get(namespace, name, signal)),
    );
  }

  async list(limits: InNamespace = {}): Promise<readonly SandboxObject[]> {
    const { namespace = this.#deps.namespace } = limits;
    return await this.#call(limits, `list sandboxes of ${namespace}`, (signal) =>
      this.#deps.api.list(namespace, signal),
    );
  }

  async delete(name: string, limits: InNamespace = {}): Promise<void> {
    const { namespace = this.#deps.namespace } = limits;
    await this.#call(limits, `delete sandbox ${namespace}/${name}`, (signal) =>
      this.#deps.api.delete({ namespace, name }, signal),
    );
  }

  async #untilReady(
    sandbox: string,
    limits: CreateLimits,
    obtain: (signal: AbortSignal) => Promise<{ object: SandboxObject; isOurs: boolean }>,
  ): Promise<Sandbox> {
    const progress = new Progress(limits.onStage);
    let ours: SandboxObject | undefined;
    try {
      return await within(
        limits,
        () => `sandbox ${sandbox} was not ready (${progress})`,
        async (signal) => {
          const { object, isOurs } = await obtain(signal);
          if (isOurs) ours = object;
          const connection = this.#connectionTo(object);
          connection.prepare(); // while the sandbox starts, there is time for it
          for await (const version of this.#deps.api.versions(object, signal)) {
            const readiness = progress.see(version);
            if (readiness.type === 'ready') return this.#handle(version, connection);
            if (readiness.type === 'failed') throw new SandboxFailed(sandbox, readiness);
          }
          throw new Error('versions of an object never end');
        },
      );
    } catch (err) {
      if (ours) await this.#cleanUp({ namespace: 'default', ...ours.metadata });
      throw err;
    }
  }

  /** Best effort: the failure that led here is what the caller must hear. */
  async #cleanUp(sandbox: Parameters<SandboxApi['delete']>[0]): Promise<void> {
    await this.#deps.api.delete(sandbox, AbortSignal.timeout(cleanUpMs)).catch(() => {});
  }

  async #call<T>(limits: Limits, doing: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const call = { signal: limits.signal, timeoutMs: limits.timeoutMs ?? defaultCallMs };
    return await within(call, () => `${doing}: no answer`, work);
  }

  #connectionTo({ metadata: { namespace = 'default', name, uid } }: SandboxObject): Connection {
    const { http, token } = this.#deps;
    return new Connection({ http, token, sandbox: { namespace, name, uid } });
  }

  #handle(object: SandboxObject, connection = this.#connectionTo(object)): Sandbox {
    const { api } = this.#deps;
    const { namespace = 'default', name, uid } = object.metadata;
    const remove = async (limits: Limits) => {
      await this.#call(limits, `delete sandbox ${namespace}/${name}`, (signal) =>
        ignoring('not-found', api.delete({ namespace, name, uid }, signal)),
      );
    };
    return new Sandbox({ object, api, connection, remove });
  }
}

/** Tells each stage once, and remembers the last for the message of a timeout. */
class Progress {
  readonly #onStage: (stage: Stage) => void;
  #last: Readiness = { type: 'waiting', reason: 'Pending', message: 'no answer yet' };
  #isScheduled = false;

  constructor(onStage: ((stage: Stage) => void) | undefined) {
    this.#onStage = onStage ?? (() => {});
  }

  see(version: SandboxObject): Readiness {
    const before = this.#last;
    const readiness = readinessOf(version);
    this.#last = readiness;
    if (!this.#isScheduled && isConditionTrue(version.status?.conditions, 'PodScheduled')) {
      this.#isScheduled = true;
      this.#onStage({ type: 'scheduled' });
    }
    if (readiness.type === 'ready') this.#onStage(readiness);
    else if (readiness.type === 'waiting' && textOf(readiness) !== textOf(before)) {
      this.#onStage({ type: 'waiting', reason: readiness.reason, message: readiness.message });
    }
    return readiness;
  }

  toString(): string {
    return textOf(this.#last);
  }
}

function textOf(readiness: Readiness): string {
  return readiness.type === 'ready' ? 'ready' : `${readiness.reason}: ${readiness.message}`;
}

/** No vowels and no digits that look like letters: names that cannot be misread, or be words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

function randomSuffix(): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(8)),
    (byte) => alphabet[byte % alphabet.length],
  ).join('');
}
