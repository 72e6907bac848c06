/** Whether a sandbox can be used, still may become so, or never will. */
import { findCondition } from '@hutch/api';
import { Fault } from '@hutch/base';
import type { SandboxObject } from './sandbox-api.ts';

export type Readiness =
  | { readonly type: 'ready' }
  | { readonly type: 'waiting' | 'failed'; readonly reason: string; readonly message: string };

/** Reasons of a Ready condition that waiting does not mend. */
const hopeless: ReadonlySet<string> = new Set([
  'PodFailed',
  'PodSucceeded',
  'SandboxExpired',
  'InvalidConfiguration',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]);

export function readinessOf({ metadata, status }: SandboxObject): Readiness {
  const ready = findCondition(status?.conditions, 'Ready');
  if (!ready) return { type: 'waiting', reason: 'Pending', message: 'no status yet' };
  const { reason, message } = ready;
  // A condition about an older spec says nothing about this one.
  const isCurrent = (ready.observedGeneration ?? metadata.generation) === metadata.generation;
  if (ready.status === 'True' && isCurrent) return { type: 'ready' };
  return { type: isCurrent && hopeless.has(reason) ? 'failed' : 'waiting', reason, message };
}

/** A sandbox that cannot become ready. The reason is its Ready condition's. */
export class SandboxFailed extends Fault {
  override readonly name: string = 'SandboxFailed';
  readonly reason: string;

  constructor(sandbox: string, { reason, message }: { reason: string; message: string }) {
    super('unavailable', `sandbox ${sandbox} failed: ${reason}: ${message}`);
    this.reason = reason;
  }
}
