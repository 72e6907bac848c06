/** What happened to a sandbox that its user would want to find in its events, read off two statuses. */
import { findCondition, isConditionTrue, type Sandbox, type SandboxStatus } from '@hutch/api';
import type { EventNote } from '@hutch/controller';

/** Each is told once: only a change of the condition behind it counts. */
export function lifecycleEvents({ spec, status: before }: Sandbox, after: SandboxStatus): EventNote[] {
  const events: EventNote[] = [];
  const becameTrue = (type: string) =>
    !isConditionTrue(before?.conditions, type) && isConditionTrue(after.conditions, type);
  if (becameTrue('Ready')) events.push(normal('SandboxReady', 'Sandbox is ready'));
  if (becameTrue('Suspended')) events.push(normal('SandboxSuspended', 'Sandbox is suspended'));

  const ready = findCondition(after.conditions, 'Ready');
  if (ready && findCondition(before?.conditions, 'Ready')?.reason !== ready.reason) {
    const type = toldReasons.get(ready.reason);
    // An expired sandbox that is deleted takes its events with it.
    const isMoot = ready.reason === 'SandboxExpired' && spec.shutdownPolicy === 'Delete';
    if (type && !isMoot) events.push({ type, reason: ready.reason, message: ready.message });
  }
  return events;
}

export function podCreated(podName: string): EventNote {
  return normal('SandboxPodCreated', `Created pod ${podName}`);
}

export function podCreateFailed(message: string): EventNote {
  return { type: 'Warning', reason: 'SandboxPodCreateFailed', message };
}

/** Reasons of Ready that are worth an event of the same name. */
const toldReasons = new Map<string, EventNote['type']>([
  ['MultiplePods', 'Warning'],
  ['SandboxExpired', 'Normal'],
  ['PodSucceeded', 'Normal'],
  ['PodFailed', 'Warning'],
]);

function normal(reason: string, message: string): EventNote {
  return { type: 'Normal', reason, message };
}
