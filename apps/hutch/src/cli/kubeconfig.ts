/** `hutch kubeconfig`: the path, so that `export KUBECONFIG=$(hutch kubeconfig)` works. */
import { Fault } from '@hutch/base';
import type { DataDir } from '../home/data-dir.ts';
import { readEndpoint } from '../home/endpoint.ts';

export async function kubeconfig(dataDir: DataDir): Promise<number> {
  if (!readEndpoint(dataDir)) {
    throw new Fault('unavailable', `no home is running in ${dataDir.root}; start one with: hutch up -d`);
  }
  process.stdout.write(`${dataDir.kubeconfigFile}\n`);
  return 0;
}
