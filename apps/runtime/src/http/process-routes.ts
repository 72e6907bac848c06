/** The process API of runtime-protocol: HTTP on one side, the process table on the other. */
import type { ServerResponse } from 'node:http';
import { Fault, isFault } from '@hutch/base';
import { type OutputRead, type ProcessFailed, processesPath } from '@hutch/runtime-protocol';
import { LaunchFailure } from '../children/child.ts';
import type { ManagedProcess } from '../processes/managed-process.ts';
import {
  parseOffset,
  parseOutputRead,
  parseSendSignal,
  parseStartProcess,
  parseTerminalSize,
} from '../processes/parse.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { streamOutput } from '../processes/stream-output.ts';
import { FrameResponse } from './frame-response.ts';
import { readJson, sendJson } from './json.ts';
import type { Exchange, Route } from './router.ts';

const beginning: OutputRead = { stdout: 0, stderr: 0 };

export function processRoutes(table: ProcessTable): Route[] {
  const one = (rest: string) => `${processesPath}/:id/${rest}`;
  return [
    { method: 'POST', path: processesPath, handle: (exchange) => start(table, exchange) },
    {
      method: 'GET',
      path: one('output'),
      handle: ({ response, query, id }) =>
        reattach(table.get(id), response, {
          stdout: parseOffset('stdout', query.get('stdout')),
          stderr: parseOffset('stderr', query.get('stderr')),
        }),
    },
    { method: 'PUT', path: one('stdin'), handle: (exchange) => takeStdin(table.get(exchange.id), exchange) },
    {
      method: 'POST',
      path: one('signal'),
      handle: (exchange) =>
        command(exchange, (body) => table.get(exchange.id).signal(parseSendSignal(body).signal)),
    },
    {
      method: 'POST',
      path: one('resize'),
      handle: (exchange) =>
        command(exchange, (body) => table.get(exchange.id).resize(parseTerminalSize(body))),
    },
    {
      method: 'POST',
      path: one('acknowledge'),
      handle: (exchange) =>
        command(exchange, (body) => table.get(exchange.id).acknowledge(parseOutputRead(body))),
    },
  ];
}

async function command({ request, response }: Exchange, perform: (body: unknown) => void): Promise<void> {
  perform(await readJson(request));
  sendJson(response, {});
}

async function start(table: ProcessTable, { request, response }: Exchange): Promise<void> {
  const wanted = parseStartProcess(await readJson(request));
  let managed: ManagedProcess;
  try {
    managed = await table.start(wanted);
  } catch (err) {
    if (!(err instanceof LaunchFailure)) throw err;
    return sendFailure(response, { reason: err.reason, message: err.message });
  }
  await sendOutput(managed, response, { from: beginning, isNew: true });
}

async function reattach(managed: ManagedProcess, response: ServerResponse, from: OutputRead): Promise<void> {
  try {
    await sendOutput(managed, response, { from, isNew: false });
  } catch (err) {
    if (!isFault(err, 'expired')) throw err;
    return sendFailure(response, { reason: 'output-lost', message: err.message });
  }
}

async function sendFailure(response: ServerResponse, failure: ProcessFailed): Promise<void> {
  using frames = new FrameResponse(response);
  await frames.write({ type: 'failed', failure });
  response.end();
}

async function sendOutput(
  managed: ManagedProcess,
  response: ServerResponse,
  { from, isNew }: { readonly from: OutputRead; readonly isNew: boolean },
): Promise<void> {
  const reader = managed.attach(from);
  const cut = new AbortController();
  const onClose = () => cut.abort(new Fault('unavailable', 'the caller went away'));
  const onReplaced = () => response.destroy();
  response.on('close', onClose);
  reader.addEventListener('abort', onReplaced, { once: true });
  try {
    using frames = new FrameResponse(response);
    if (isNew) await frames.write({ type: 'started', process: { id: managed.id, pid: managed.pid } });
    await streamOutput(managed, from, { sink: frames, signal: AbortSignal.any([reader, cut.signal]) });
    response.end();
  } finally {
    reader.removeEventListener('abort', onReplaced);
    managed.detach(reader);
  }
}

async function takeStdin(managed: ManagedProcess, { request, response, query }: Exchange): Promise<void> {
  let at = parseOffset('offset', query.get('offset'));
  await managed.takeStdin(at, new Uint8Array(0)); // a gap is told before the body is read
  for await (const bytes of request as AsyncIterable<Uint8Array>) {
    await managed.takeStdin(at, bytes);
    at += bytes.length;
  }
  if (query.get('end') === 'true' && at === managed.stdinReceipt.received) managed.endStdin();
  sendJson(response, managed.stdinReceipt);
}
