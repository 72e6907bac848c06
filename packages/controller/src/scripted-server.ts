/** A server whose every answer a test writes down beforehand: for cases about order, failure and time. */
import { Channel } from '@hutch/base';
import { createKubeClient, inProcess, type KubeClient } from '@hutch/kube-client';
import {
  type ApiRequest,
  type ApiResponse,
  type KubeObject,
  type StatusFault,
  statusFault,
  type WatchEvent,
} from '@hutch/kube-meta';

type Answer = (request: ApiRequest) => ApiResponse;

export class ScriptedServer {
  readonly client: KubeClient = createKubeClient(
    inProcess((request) => this.#handle(request), { name: 'tester', groups: [] }),
  );
  /** `list`, `watch 7`, `POST /path`: what was asked, in order. */
  readonly asked: string[] = [];
  readonly #answers: Answer[] = [];
  #onAsked = () => {};

  thenList(resourceVersion: string, ...items: KubeObject[]): this {
    return this.thenAnswer({ apiVersion: 'v1', kind: 'List', metadata: { resourceVersion }, items });
  }

  thenAnswer(object: Extract<ApiResponse, { type: 'object' }>['object']): this {
    this.#answers.push(() => ({ type: 'object', status: 200, object }));
    return this;
  }

  thenFail(fault: StatusFault): this {
    this.#answers.push(() => ({ type: 'object', status: fault.status.code, object: fault.status }));
    return this;
  }

  /** A watch the test feeds. It ends when the caller goes. */
  thenWatch(...first: WatchEvent[]): Channel<WatchEvent> {
    const events = new Channel<WatchEvent>(1000);
    for (const event of first) events.push(event);
    this.#answers.push(({ signal }) => {
      signal.addEventListener('abort', () => events.end(), { once: true });
      return { type: 'watch', events };
    });
    return events;
  }

  /** Resolves when this many requests have been made. */
  async untilAsked(count: number): Promise<void> {
    while (this.asked.length < count) {
      await new Promise<void>((resolve) => {
        this.#onAsked = resolve;
      });
    }
  }

  async #handle(request: ApiRequest): Promise<ApiResponse> {
    this.asked.push(textOf(request));
    this.#onAsked();
    const answer = this.#answers.shift();
    if (answer) return answer(request);
    const fault = statusFault('internal', `no answer written down for ${textOf(request)}`);
    return { type: 'object', status: 500, object: fault.status };
  }
}

function textOf({ method, path, query }: ApiRequest): string {
  if (method !== 'GET') return `${method} ${path}`;
  return query.has('watch') ? `watch ${query.get('resourceVersion')}` : 'list';
}

export function event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): WatchEvent {
  return { type, object };
}

export function bookmark(resourceVersion: string): WatchEvent {
  return { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion } } };
}

export function errorEvent(fault: StatusFault): WatchEvent {
  return { type: 'ERROR', object: fault.status };
}
