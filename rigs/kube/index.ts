// The whole surface of the Kubernetes rig.
export { ensureKubeBinaries, type KubeBinary, kubernetesVersion } from './binaries.ts';
export { cacheName, ensureMade, type Making } from './cache.ts';
export { kubeconfigText, type RigUser } from './credentials.ts';
export { ensureBuilt, type GoModule } from './go-build.ts';
export { dyingWithUs } from './processes.ts';
export { whyNoKubeRig } from './requirements.ts';
export { type KubeRig, type KubeRigOptions, openKubeRig, usualControllers } from './rig.ts';
