/**
 * A server as a case sees it: requests and answers as HTTP has them, nothing interpreted. The real server and
 * both doors of ours are targets.
 */
import type { Method } from '@hutch/kube-meta';

export interface RawRequest {
  readonly method: Method | 'OPTIONS';
  /** With its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As sent: what is not JSON can be sent too. */
  readonly body?: string | undefined;
}

export interface RawResponse {
  readonly status: number;
  /** Names in lower case; several of one name are a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

/** A watch that was accepted gives events; one that was refused gives the answer. */
export type RawWatch =
  | { readonly type: 'events'; readonly events: AsyncIterator<unknown, void, void> }
  | { readonly type: 'answer'; readonly response: RawResponse };

/** `bytes` stands for all that only a wire can carry: malformed bodies, negotiation, headers of an answer. */
export type Ability = 'bytes' | 'controllers';

export interface Target {
  readonly name: string;
  can(ability: Ability): boolean;
  send(request: RawRequest, signal: AbortSignal): Promise<RawResponse>;
  watch(request: RawRequest, signal: AbortSignal): Promise<RawWatch>;
}
