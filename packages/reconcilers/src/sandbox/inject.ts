/**
 * Puts the in-sandbox runtime into a pod spec, the same in both homes: its image as a read-only volume, the runtime as
 * first process of the first container, its port and its readiness probe. Other containers are left as they are.
 */
import { injectedRuntimePort, runtimeCommand, runtimeImage, runtimeMountPath } from '@hutch/api';
import type { Container, PodSpec, Probe, Volume } from '@hutch/kube-meta';

const volumeName = 'hutch-runtime';
const portName = 'hutch';

export function withRuntime(spec: PodSpec): PodSpec {
  const [main, ...others] = spec.containers;
  if (!main) return spec; // the API server will say what is missing
  const otherVolumes = (spec.volumes ?? []).filter(({ name }) => name !== volumeName);
  return {
    ...spec,
    containers: [runtimeContainer(main), ...others],
    volumes: [...otherVolumes, runtimeVolume],
  };
}

const runtimeVolume: Volume = {
  name: volumeName,
  image: { reference: runtimeImage, pullPolicy: 'IfNotPresent' },
};

/** Every second, because it stands between a sandbox that runs and one that may be used. */
const runtimeProbe: Probe = { httpGet: { path: '/', port: injectedRuntimePort }, periodSeconds: 1 };

function runtimeContainer({ args, ...main }: Container): Container {
  const child = main.command?.length ? ['--', ...main.command, ...(args ?? [])] : [];
  const otherMounts = (main.volumeMounts ?? []).filter(({ mountPath }) => mountPath !== runtimeMountPath);
  const ports = main.ports ?? [];
  const hasPort = ports.some(
    ({ containerPort, protocol }) => containerPort === injectedRuntimePort && (protocol ?? 'TCP') === 'TCP',
  );
  return {
    ...main,
    command: [...runtimeCommand, ...child],
    ports: hasPort
      ? ports
      : [...ports, { name: portName, containerPort: injectedRuntimePort, protocol: 'TCP' }],
    volumeMounts: [...otherMounts, { name: volumeName, mountPath: runtimeMountPath, readOnly: true }],
    // A template that probes for something of its own knows better when it is ready.
    readinessProbe: main.readinessProbe ?? runtimeProbe,
  };
}
