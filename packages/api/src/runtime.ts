/** How the in-sandbox runtime gets into a pod, in both homes alike (design: injected, not baked). */
export const hutchPrefix = 'hutch.internal/';

/** On a pod template: `inject` makes the sandbox reconciler add the runtime to the pod. */
export const runtimeAnnotation = 'hutch.internal/runtime';

/** Built-in images of the embedded home; never pulled there. */
export const hostImage = 'hutch.internal/host';
export const runtimeImage = 'hutch.internal/runtime';

/** Where the runtime's directory is mounted. It brings its own loader and C library. */
export const runtimeMountPath = '/.hutch';
export const injectedRuntimePort = 8888;

/**
 * Starts the runtime through its own loader, so that glibc, musl and empty images all work. A template's own
 * command follows after `--` and becomes its child.
 */
export const runtimeCommand: readonly string[] = [
  '/.hutch/lib/ld.so',
  '--library-path',
  '/.hutch/lib',
  '/.hutch/bin/hutch-runtime',
  'serve',
];
