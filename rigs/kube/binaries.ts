/** The real Kubernetes parts, at the versions that go/go.mod pins. */
import { join } from 'node:path';
import type { Making } from './cache.ts';
import { builtPlace, ensureBuilt, type GoModule, type GoProgram } from './go-build.ts';

export type KubeBinary = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl';

/** The same as in go/go.mod; a test holds them together. */
export const kubernetesVersion = '1.36.1';

/** A build from modules does not know its version and would tell clients v0.0.0. */
function versionStamps(version: string): Record<string, string> {
  const [major, minor] = version.split('.') as [string, string];
  const facts = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return Object.fromEntries(
    ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((home) =>
      Object.entries(facts).map(([variable, value]) => [`${home}.${variable}`, value]),
    ),
  );
}

function kubernetesProgram(name: KubeBinary): GoProgram {
  return { name, package: `k8s.io/kubernetes/cmd/${name}`, stamps: versionStamps(kubernetesVersion) };
}

const kube: GoModule = {
  name: 'kube',
  directory: join(import.meta.dirname, 'go'),
  programs: [
    { name: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
    kubernetesProgram('kube-apiserver'),
    kubernetesProgram('kube-controller-manager'),
    kubernetesProgram('kube-scheduler'),
    kubernetesProgram('kubectl'),
  ],
};

/** Where the binaries are, or will be once they are built. */
export function kubeBinariesPlace(): string {
  return builtPlace(kube);
}

/** The directory of the binaries; builds them if they are not there (about ten minutes on two cores). */
export function ensureKubeBinaries(making: Making): Promise<string> {
  return ensureBuilt(kube, making);
}
