// The whole surface of @hutch/reconcilers.
export { type SandboxReconcilerDeps, sandboxReconciler } from './sandbox/reconcile.ts';
export { runSandboxController, type SandboxControllerOptions } from './sandbox/run.ts';
