/** Two questions to a starting API server, over plain `node:https`: the judge does not lean on a client of ours. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';

export interface ApiAddress {
  readonly port: number;
  readonly ca: string;
  readonly token: string;
}

async function ask(
  { port, ca, token }: ApiAddress,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  const asked = request({ host: '127.0.0.1', port, path, ca, headers, signal, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

/** False while it refuses connections or says that it is not ready yet. */
export async function isReady(api: ApiAddress, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await ask(api, '/readyz', signal);
    answer.resume();
    return answer.statusCode === 200;
  } catch (err) {
    signal.throwIfAborted();
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return false;
    throw err;
  }
}

/** Resolves when the collection has an object, or gets its first. */
export async function firstEvent(api: ApiAddress, collection: string, signal: AbortSignal): Promise<void> {
  const answer = await ask(api, `${collection}?watch=true`, signal);
  if (answer.statusCode !== 200) throw new Error(`watch ${collection}: status ${answer.statusCode}`);
  try {
    await once(answer, 'data', { signal });
  } finally {
    answer.destroy();
  }
}
