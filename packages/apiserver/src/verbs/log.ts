/** `pods/log`: what a container wrote, as one stream of bytes. */
import { type ApiRequest, type ApiResponse, type Pod, statusFault } from '@hutch/kube-meta';
import type { NodeStreams } from '../node-streams.ts';
import { readBoolean, readInteger } from '../query.ts';

const defaultContainerAnnotation = 'kubectl.kubernetes.io/default-container';

export function streamLog(pod: Pod, request: ApiRequest, nodeStreams: NodeStreams | undefined): ApiResponse {
  const { query } = request;
  const { name } = pod.metadata;
  const container = containerOf(pod, query.get('container') || undefined);
  // Nobody has run it, so there is nothing to show yet.
  if (!pod.spec.nodeName) return { type: 'object', status: 204, object: '' };
  if (!nodeStreams) throw statusFault('unavailable', `read log of pod ${name}: no node is connected`);
  const tailLines = readInteger(query, 'tailLines');
  if (tailLines !== undefined && tailLines < 0) {
    throw statusFault('invalid', 'tailLines: Invalid value: must be greater than or equal to 0');
  }
  const options = {
    container,
    follow: readBoolean(query, 'follow'),
    tailLines,
    previous: readBoolean(query, 'previous'),
    timestamps: readBoolean(query, 'timestamps'),
  };

  return {
    type: 'stream',
    protocol: 'body',
    async open(channels, signal) {
      const out = channels.get('out');
      if (!out) throw new Error('log stream opened without its channel');
      const writer = out.writable.getWriter();
      try {
        for await (const chunk of nodeStreams.logs(pod, options, signal)) {
          await writer.ready;
          await writer.write(chunk);
        }
        await writer.close();
      } catch (err) {
        await writer.abort(err);
        throw err;
      }
    },
  };
}

function containerOf(pod: Pod, asked: string | undefined): string {
  const { name, annotations } = pod.metadata;
  const containers = pod.spec.containers.map((container) => container.name);
  const all = [...containers, ...(pod.spec.initContainers ?? []).map((container) => container.name)];
  if (asked !== undefined) {
    if (all.includes(asked)) return asked;
    throw statusFault('badRequest', `container ${asked} is not valid for pod ${name}`);
  }
  const preferred = annotations?.[defaultContainerAnnotation];
  if (preferred !== undefined && all.includes(preferred)) return preferred;
  const [only, ...others] = containers;
  if (only !== undefined && others.length === 0) return only;
  const choice = `choose one of: [${containers.join(' ')}]`;
  throw statusFault('badRequest', `a container name must be specified for pod ${name}, ${choice}`);
}
