/** What becomes of a pod that waits for a node, in a home with one. No await, no clock, no client. */
import { type ClaimStep, judgeClaims, type ObservedClaims } from './claims.ts';
import { misfitOf, type Place } from './fit.ts';

export interface Observed extends Omit<ObservedClaims, 'node'> {
  readonly place: Place;
}

export type Decision =
  | { readonly type: 'bind' }
  /** Its volumes come first; their events bring it back. */
  | { readonly type: 'prepare'; readonly steps: readonly ClaimStep[] }
  | { readonly type: 'refuse'; readonly message: string };

export function decide({ place, ...observed }: Observed): Decision {
  const claims = judgeClaims({ ...observed, node: place.metadata });
  if (claims.type === 'unready') return refuse(`${claims.reason}. not found`);
  const misfit = misfitOf(observed.pod, place) ?? (claims.type === 'misfit' ? claims.reason : undefined);
  if (misfit) return refuse(`1 ${misfit}. ${nothingGained}`);
  return claims.type === 'binding' ? { type: 'prepare', steps: claims.steps } : { type: 'bind' };
}

/** Kubernetes' scheduler adds what came of making room; here as there, other pods gone would change nothing. */
const nothingGained =
  'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';

function refuse(why: string): Decision {
  return { type: 'refuse', message: `0/1 nodes are available: ${why}` };
}
