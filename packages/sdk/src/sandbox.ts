/** A sandbox you hold: run commands in it, read its log, remove it. */
import { podNameOf } from '@hutch/api';
import { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import type { Limits } from './limits.ts';
import type { SandboxApi, SandboxObject } from './sandbox-api.ts';

export interface SandboxDeps {
  readonly object: SandboxObject;
  readonly api: SandboxApi;
  readonly connection: Connection;
  readonly remove: (limits: Limits) => Promise<void>;
}

export class Sandbox implements AsyncDisposable {
  /** As it was when this handle was made. */
  readonly object: SandboxObject;
  readonly name: string;
  readonly namespace: string;
  readonly commands: Commands;
  readonly #deps: SandboxDeps;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
    this.object = deps.object;
    this.name = deps.object.metadata.name;
    this.namespace = deps.object.metadata.namespace ?? 'default';
    this.commands = new Commands(deps.connection);
  }

  /** What the sandbox's main process wrote. With `follow` it goes on until the pod ends or you leave the loop. */
  async *logs(
    options: { readonly follow?: boolean } & Pick<Limits, 'signal'> = {},
  ): AsyncGenerator<Uint8Array> {
    const { follow = false, signal = new AbortController().signal } = options;
    const pod = podNameOf(this.object);
    yield* this.#deps.api.log({ namespace: this.namespace, pod, follow }, signal);
  }

  /** Fine when it is already gone. Resolves when the deletion is accepted. */
  async delete(limits: Limits = {}): Promise<void> {
    await this.#deps.remove(limits);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}
