// `npm run rig:kube`: a real Kubernetes API for a person, until Ctrl-C. Only its kubeconfig's path is written to stdout.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { aborted } from '@hutch/base';
import { ensureKubeBinaries, kubeBinariesPlace, kubernetesVersion } from './binaries.ts';
import { openKubeRig } from './rig.ts';

const usage = `usage: node rigs/kube/main.ts [COMMAND]

A real Kubernetes ${kubernetesVersion} API on loopback, without nodes.

  up [--scheduler] [--durable]   start one, print the path of its kubeconfig, stop it at Ctrl-C (the default)
  build                          build the binaries now, if they are not there
  where                          print the directory of the binaries
  kubectl ARGS...                run the kubectl that belongs to them (set KUBECONFIG)`;

const say = (line: string) => void process.stderr.write(`${line}\n`);

async function up(args: readonly string[], signal: AbortSignal): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { scheduler: { type: 'boolean' }, durable: { type: 'boolean' } },
  });
  await using rig = await openKubeRig({ ...values, signal, say });
  say(`Kubernetes ${kubernetesVersion} at ${rig.url}, logs and data in ${rig.directory}; Ctrl-C stops it`);
  say(`try: export KUBECONFIG=${rig.kubeconfigFile}; node rigs/kube/main.ts kubectl get namespaces`);
  console.log(rig.kubeconfigFile);
  await aborted(signal);
}

async function main([command = 'up', ...args]: readonly string[], signal: AbortSignal): Promise<number> {
  switch (command) {
    case 'up':
      await up(args, signal);
      return 0;
    case 'build':
      console.log(await ensureKubeBinaries({ signal, say }));
      return 0;
    case 'where':
      console.log(kubeBinariesPlace());
      return 0;
    case 'kubectl': {
      const kubectl = join(await ensureKubeBinaries({ signal, say }), 'kubectl');
      return spawnSync(kubectl, args, { stdio: 'inherit' }).status ?? 1;
    }
    case '--help':
    case 'help':
      console.log(usage);
      return 0;
    default:
      throw new Error(usage);
  }
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
}
try {
  process.exitCode = await main(process.argv.slice(2), stop.signal);
} catch (err) {
  say((err as Error).message);
  process.exitCode = 1;
}
