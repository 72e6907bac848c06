/** Builders for this package's tests: each case states only what it is about. */
import type { Container, Pod, PodSpec } from '@hutch/kube-meta';
import type { Exit } from './containers/runtime.ts';
import type { Image } from './images/image.ts';

export function aPod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'box',
      namespace: 'default',
      uid: 'uid-1',
      resourceVersion: '1',
      creationTimestamp: '2030-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { nodeName: 'node', containers: [aContainer()], ...spec },
  };
}

export function aContainer(overrides: Partial<Container> = {}): Container {
  return { name: 'main', image: 'hutch.internal/host', ...overrides };
}

export function anImage(overrides: Partial<Image> = {}): Image {
  return {
    reference: 'hutch.internal/host',
    directory: '/images/host',
    mounts: [],
    user: { uid: 1000, gid: 1000 },
    env: { PATH: '/usr/bin' },
    workingDir: '/workspace',
    entrypoint: [],
    command: ['sleep', 'infinity'],
    ...overrides,
  };
}

export function anExit(overrides: Partial<Exit> = {}): Exit {
  return {
    exitCode: 0,
    isOutOfMemory: false,
    startedAt: '2030-01-01T00:00:00.000Z',
    finishedAt: '2030-01-01T00:00:10.000Z',
    ...overrides,
  };
}
