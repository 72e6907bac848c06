// The Python package `kubernetes` on both servers, in two releases that speak differently on the wire: 35 writes
// `watch=True`, 37 sends bodies without a Content-Type.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Fault, isFault } from '@hutch/base';
import { cacheName, ensureMade } from '../../rigs/kube/index.ts';
import { runChild } from '../../tools/child.ts';
import { walk } from './foreign-program.ts';
import { type Server, servers } from './servers.ts';

const directory = join(import.meta.dirname, 'python');
const installTimeoutMs = 5 * 60_000;
const never = new AbortController().signal;

const environments = await Promise.all(
  ['35', '37'].map(async (release) => ({ release, ...(await environmentOf(release)) })),
);

for (const kind of servers) {
  const noServer = await kind.whyNot(never);
  describe(`the Python package on ${kind.name}`, { skip: noServer ?? false }, () => {
    let server: Server;
    before(async () => {
      server = await kind.open(never);
    });
    after(() => server[Symbol.asyncDispose]());

    for (const { release, python, reason } of environments) {
      test(`release ${release} goes through the verbs`, { skip: reason ?? false }, async (t) => {
        const namespace = `python-${release}`;
        await server.makeNamespace(namespace);
        await walk(t, [python, join(directory, 'walk.py'), server.kubeconfigFile, namespace]);
      });
    }
  });
}

/** The interpreter of an environment with exactly the pinned packages, made once outside the tree. */
async function environmentOf(release: string): Promise<{ python: string; reason?: string }> {
  const requirements = join(directory, `requirements-${release}.txt`);
  try {
    const version = await output('python3', '--version');
    const name = cacheName(`python-kubernetes-${release}`, [readFileSync(requirements), version]);
    const place = await ensureMade(name, { signal: never, say: console.error }, async (target) => {
      await output('python3', '-m', 'venv', target);
      const pip = [join(target, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--no-deps'] as const;
      await output(...pip, '--requirement', requirements);
    });
    return { python: join(place, 'bin/python') };
  } catch (err) {
    if (isFault(err, 'unavailable')) return { python: '', reason: err.message };
    throw err;
  }
}

/** What a command prints. A command that is not there, or cannot do it, is a reason to skip. */
async function output(...command: readonly [string, ...string[]]): Promise<string> {
  const failed = (detail: string) =>
    new Fault('unavailable', `prepare Python for the package kubernetes: ${command.join(' ')}: ${detail}`);
  try {
    const result = await runChild(command, { cwd: directory, signal: never, timeoutMs: installTimeoutMs });
    if (result.code !== 0) throw failed(result.output.trim().split('\n').at(-1) ?? '');
    return result.output;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') throw failed('no such command');
    throw err;
  }
}
