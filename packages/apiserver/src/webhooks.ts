/** Calls webhooks over HTTPS: bounded in time and size, trusting only the authority the definition names. */
import { request } from 'node:https';
import { Fault } from '@hutch/base';
import type { CallWebhook } from './kinds/custom/conversion.ts';
import type { WebhookClient } from './kinds/custom/definition.ts';

export interface WebhookOptions {
  /** Where a service is reached. Without it, only webhooks with a URL of their own can be called. */
  readonly resolveService?: (service: {
    readonly namespace: string;
    readonly name: string;
    readonly port: number;
  }) => {
    readonly host: string;
    readonly port: number;
  };
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The name its certificate must have. */
  readonly servername: string;
}

/** Rejects with a `timeout`, `too-large` or `unavailable` fault; never follows a redirect. */
export function httpsWebhooks(options: WebhookOptions = {}): CallWebhook {
  const { timeoutMs = 30_000, maxBytes = 16 * 1024 * 1024 } = options;
  return async (client, body) => {
    const target = targetOf(client, options);
    const text = await post(target, JSON.stringify(body), { client, timeoutMs, maxBytes });
    return JSON.parse(text) as unknown;
  };
}

function targetOf({ url, service }: WebhookClient, { resolveService }: WebhookOptions): Target {
  if (url !== undefined) {
    const { hostname, port, pathname } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    return { host, port: Number(port || 443), path: pathname, servername: host };
  }
  if (!service) throw new Fault('invalid', 'call webhook: it has neither a url nor a service');
  const { namespace, name, port = 443, path = '/' } = service;
  if (!resolveService)
    throw new Fault('unavailable', `call webhook: service ${namespace}/${name} cannot be reached`);
  return { ...resolveService({ namespace, name, port }), path, servername: `${name}.${namespace}.svc` };
}

interface Bounds {
  readonly client: WebhookClient;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

async function post(target: Target, body: string, { client, timeoutMs, maxBytes }: Bounds): Promise<string> {
  const ca = client.caBundle === undefined ? undefined : Buffer.from(client.caBundle, 'base64').toString();
  const signal = AbortSignal.timeout(timeoutMs);
  return await new Promise((resolve, reject) => {
    const refuse = (err: Error) =>
      reject(signal.aborted ? new Fault('timeout', 'context deadline exceeded', { cause: err }) : err);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = request(
      { method: 'POST', ...target, ...(ca ? { ca } : {}), headers, signal },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxBytes)
            call.destroy(new Fault('too-large', `webhook answered with more than ${maxBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', refuse);
        response.on('end', () => {
          const { statusCode = 0 } = response;
          if (statusCode === 200) resolve(Buffer.concat(chunks).toString());
          else reject(new Fault('unavailable', `webhook answered with status ${statusCode}`));
        });
      },
    );
    call.on('error', refuse);
    call.end(body);
  });
}
