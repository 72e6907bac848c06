/** Runs every case on one target, several side by side, each in a namespace of its own. */
import { messageOf } from '@hutch/base';
import { namespaces, serviceAccounts } from '@hutch/kube-meta';
import type { ControllerArea, ControllerCase } from './case.ts';
import { Scene } from './scene.ts';
import { type ControllerTarget, nodeName } from './targets.ts';

/** A real controller looks again at some things only every quarter of a minute. */
const caseTimeoutMs = 60_000;
const atOnce = 12;

export interface Outcome {
  readonly area: string;
  readonly name: string;
  /** What the case saw, or why it could not see it. */
  readonly seen: { readonly value: unknown } | { readonly failure: string };
}

export async function runAreas(
  areas: readonly ControllerArea[],
  target: ControllerTarget,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const waiting = areas.flatMap(({ area, cases }) => cases.map((each) => ({ area, each })));
  const outcomes: Outcome[] = [];
  let number = 0;
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { area, each } = next;
      outcomes.push({
        area,
        name: each.name,
        seen: await runCase(each, target, { number: number++, signal }),
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

async function runCase(
  { run }: ControllerCase,
  { client }: ControllerTarget,
  { number, signal: outer }: { number: number; signal: AbortSignal },
): Promise<Outcome['seen']> {
  // Of one length, so that lengths in messages are the same everywhere.
  const namespace = `scene-${String(number).padStart(3, '0')}`;
  const signal = AbortSignal.any([outer, AbortSignal.timeout(caseTimeoutMs)]);
  const scene = new Scene({ client, namespace, nodeName, signal });
  try {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    // Pods are refused until their namespace has its account.
    await scene.until(serviceAccounts, 'default', (account) => account !== undefined);
    return { value: withoutNames(await run(scene), namespace) };
  } catch (err) {
    return { failure: messageOf(err) };
  }
}

/** As it would be read back from a file, with the scene's own names taken out. */
function withoutNames(value: unknown, namespace: string): unknown {
  return JSON.parse(JSON.stringify(value ?? null).replaceAll(namespace, 'SCENE'));
}
