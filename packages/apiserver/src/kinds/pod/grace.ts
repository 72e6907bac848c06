import type { ApiObject } from '../kind.ts';
import { defaultGraceSeconds } from './defaults.ts';
import { podSpec, podStatus } from './spec.ts';

/** A pod that no node has, or that has ended, has nobody to wait for. */
export function podGraceSeconds(object: ApiObject, asked: number | undefined): number {
  const { nodeName, terminationGracePeriodSeconds } = podSpec(object);
  const { phase } = podStatus(object);
  if (!nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
  return asked ?? terminationGracePeriodSeconds ?? defaultGraceSeconds;
}
