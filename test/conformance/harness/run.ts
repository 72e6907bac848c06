/** Runs cases on a target, several side by side, each in a namespace and with names of its own. */
import { randomBytes } from 'node:crypto';
import { messageOf } from '@hutch/base';
import type { Case } from './case.ts';
import { Scene } from './scene.ts';
import type { Target } from './target.ts';
import type { Transcript } from './transcript.ts';

/** A case that broke off says where; what it had written down until then is kept. */
export interface Outcome {
  readonly transcript: Transcript;
  readonly failure: string | undefined;
}

/** Long enough for a slow machine; a case that hangs must not hang the suite. */
const caseTimeoutMs = 90_000;

async function runCase(testCase: Case, target: Target, signal: AbortSignal): Promise<Outcome> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(caseTimeoutMs)]);
  await using scene = new Scene(target, freshId(), deadline);
  try {
    await furnish(scene, testCase);
    await testCase.run(scene);
    return { transcript: scene.transcript, failure: undefined };
  } catch (err) {
    signal.throwIfAborted();
    return { transcript: scene.transcript, failure: messageOf(err) };
  }
}

export async function runCases(
  cases: readonly Case[],
  target: Target,
  signal: AbortSignal,
): Promise<ReadonlyMap<Case, Outcome>> {
  const outcomes = new Map<Case, Outcome>();
  const waiting = cases.filter(({ needs }) => needs === undefined || target.can(needs));
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      outcomes.set(next, await runCase(next, target, signal));
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return outcomes;
}

/** Namespaces are left where they are: a target lives no longer than its suite, and clearing one away is work. */
async function furnish(scene: Scene, { namespace }: Case): Promise<void> {
  if (namespace === 'none') return;
  await scene.prepare('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: scene.namespace },
  });
  if (namespace === 'with-accounts') {
    // Pods are refused until their namespace has its service account, which a controller makes.
    await scene.settled(scene.in('serviceaccounts', 'default'), (account) => account !== undefined);
  }
}

/** Of one length, so that lengths in messages are the same everywhere; never a word that could occur by chance. */
function freshId(): string {
  return `q${randomBytes(8).toString('hex').slice(0, 9)}`;
}
