import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Fault, isFault, type Log } from '@hutch/base';
import { sendError } from './json.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** What stood in the place of `:id` in the path, else empty. */
  readonly id: string;
}

export interface Route {
  readonly method: string;
  /** Literal, but for one segment `:id`. */
  readonly path: string;
  /** Settles when the exchange is over. */
  handle(exchange: Exchange): Promise<void>;
}

/** Answers a request by the route that fits it exactly: no decoding, no dot segments, no trailing slash. */
export function routerOf(routes: readonly Route[], log: Log): RequestListener {
  const matchers = routes.map((route) => ({ route, pattern: patternOf(route.path) }));

  const dispatch = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', ...query] = (request.url ?? '').split('?');
    const fitting = matchers.filter(({ pattern }) => pattern.test(path));
    if (fitting.length === 0) throw new Fault('not-found', 'no such path');
    const found = fitting.find(({ route }) => route.method === request.method);
    if (!found) throw new Fault('unsupported', `method ${request.method} is not for this path`);
    const id = found.pattern.exec(path)?.[1] ?? '';
    await found.route.handle({ request, response, id, query: new URLSearchParams(query.join('?')) });
  };

  return (request, response) => {
    dispatch(request, response).catch((err: unknown) => {
      if (!isFault(err) && !request.destroyed) log.error('request failed', { method: request.method, err });
      sendError(response, err);
    });
  };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${RegExp.escape(path).replace(RegExp.escape(':id'), '([A-Za-z0-9-]{1,64})')}$`);
}
