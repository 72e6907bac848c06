/** Asks a container whether it is ready, from the host, through the pod's own address. */
import { connect, type Socket } from 'node:net';
import { type Clock, isAbortOf } from '@hutch/base';
import type { Container, Probe } from '@hutch/kube-meta';

/**
 * The first answer is what a person waits for, and the kernel has no event for "the other side listens now": so
 * until the first success we ask after 5 ms, then a little later each time, up to the probe's own period.
 */
const firstStepMs = 5;
const stepGrowth = 1.3;
const maxFirstStepMs = 1_000;
const maxHeadBytes = 4096;

export interface ProbeTarget {
  readonly ip: string;
  readonly container: Container;
}

export interface ProbeOutcome {
  readonly isReady: boolean;
  /** Why not. */
  readonly message?: string;
}

export interface ProbingOptions {
  /** What is believed before the first answer: a container that was found again is as ready as it was. */
  readonly isReady: boolean;
  readonly clock: Clock;
  readonly onChange: (outcome: ProbeOutcome) => void;
}

/** Calls `onChange` whenever readiness turns. Returns when the signal aborts. */
export async function keepProbing(
  target: ProbeTarget & { readonly probe: Probe },
  { isReady: isReadyAtFirst, clock, onChange }: ProbingOptions,
  signal: AbortSignal,
): Promise<void> {
  const { probe } = target;
  const periodMs = (probe.periodSeconds ?? 10) * 1000;
  const successThreshold = probe.successThreshold ?? 1;
  const failureThreshold = probe.failureThreshold ?? 3;
  let isReady = isReadyAtFirst;
  let hasBeenReady = isReady;
  let inRow = 0;
  let stepMs = firstStepMs;
  try {
    await clock.sleep((probe.initialDelaySeconds ?? 0) * 1000, signal);
    for (;;) {
      const problem = await probeOnce(target, signal);
      signal.throwIfAborted();
      const isSame = (problem === undefined) === isReady;
      inRow = isSame ? 0 : inRow + 1;
      if (inRow >= (isReady ? failureThreshold : successThreshold)) {
        isReady = !isReady;
        inRow = 0;
        hasBeenReady = true;
        onChange(problem === undefined ? { isReady } : { isReady, message: problem });
      }
      await clock.sleep(hasBeenReady ? periodMs : Math.min(stepMs, periodMs), signal);
      stepMs = Math.min(stepMs * stepGrowth, maxFirstStepMs);
    }
  } catch (err) {
    if (!isAbortOf(signal, err)) throw err;
  }
}

/** Undefined when the probe succeeds, else what was wrong. */
export async function probeOnce(
  { ip, container, probe }: ProbeTarget & { readonly probe: Probe },
  signal: AbortSignal,
): Promise<string | undefined> {
  const action = probe.httpGet ?? probe.tcpSocket;
  const host = action?.host ?? ip;
  const port = portOf(action?.port, container);
  if (port === undefined) return `no port named ${action?.port}`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout((probe.timeoutSeconds ?? 1) * 1000)]);
  try {
    const socket = await open(host, port, probe.httpGet?.scheme === 'HTTPS', limit);
    using _ = { [Symbol.dispose]: () => socket.destroy() };
    if (!probe.httpGet) return undefined;
    const { path = '/', httpHeaders = [] } = probe.httpGet;
    const headers = httpHeaders.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
    const hasHost = httpHeaders.some(({ name }) => name.toLowerCase() === 'host');
    const hostHeader = hasHost ? '' : `Host: ${host}:${port}\r\n`;
    const target = path.startsWith('/') ? path : `/${path}`;
    socket.write(
      `GET ${target} HTTP/1.1\r\n${hostHeader}${headers}User-Agent: hutch-probe\r\nConnection: close\r\n\r\n`,
    );
    const status = await readStatus(socket);
    return status >= 200 && status < 400 ? undefined : `HTTP probe failed with status ${status}`;
  } catch (err) {
    return err instanceof Error ? err.message : String(err); // any failure of the other side is an answer: not ready
  }
}

function portOf(port: string | number | undefined, container: Container): number | undefined {
  if (typeof port === 'number') return port;
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? (Number(port) || undefined);
}

async function open(host: string, port: number, isTls: boolean, signal: AbortSignal): Promise<Socket> {
  // loaded only for a pod that asks; certificates are not verified, as in Kubernetes: only readiness is asked
  const tls = isTls ? await import('node:tls') : undefined;
  return await new Promise((resolve, reject) => {
    const socket: Socket = tls
      ? tls.connect({ host, port, rejectUnauthorized: false }, () => resolve(socket))
      : connect({ host, port }, () => resolve(socket));
    const onAbort = () =>
      socket.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    socket.once('error', reject);
    socket.once('close', () => {
      signal.removeEventListener('abort', onAbort);
      reject(new Error('connection closed'));
    });
  });
}

/** The three digits of the status line; the rest of the answer is of no interest. */
function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      const status = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head)?.[1];
      if (status) resolve(Number(status));
      else if (head.includes('\n') || head.length > maxHeadBytes) reject(new Error('not an HTTP answer'));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('connection closed before an answer')));
  });
}
