import { parseArgs } from 'node:util';
import { Fault, messageOf } from '@hutch/base';
import { runtimePort } from '@hutch/runtime-protocol';

const usage = `hutch-runtime serve [flags] [-- COMMAND…]

  --port N    port to listen on, on all addresses (default ${runtimePort})
  --root DIR  base directory of the file API (default /workspace)

COMMAND is run as a child; when it exits, so does the runtime, with the same status.
`;

export interface RuntimeConfig {
  readonly port: number;
  /** For the file API, which is not served yet; taken already so that pods need not change when it is. */
  readonly root: string;
  /** Empty when none was given. */
  readonly command: readonly string[];
}

export function loadConfig(argv: readonly string[]): RuntimeConfig {
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  const command = end < 0 ? [] : argv.slice(end + 1);
  const { values, positionals } = parse(own);
  if (positionals.length !== 1 || positionals[0] !== 'serve') throw new Fault('invalid', usage);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Fault('invalid', `--port ${values.port} is not a port`);
  }
  return Object.freeze({ port, root: values.root, command });
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string', default: String(runtimePort) },
        root: { type: 'string', default: '/workspace' },
      },
    });
  } catch (cause) {
    throw new Fault('invalid', `${messageOf(cause)}\n\n${usage}`, { cause });
  }
}
