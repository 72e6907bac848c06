/** The quality of service a pod is given: how much of what it may use it has asked for. */
import { type PodSpec, quantityNanos } from '@hutch/kube-meta';
import { allContainers } from './spec.ts';

const counted = ['cpu', 'memory'] as const;

type Amounts = Readonly<Record<string, string | number>>;

export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const whole = spec.resources;
  const resources = whole && hasAny(whole) ? [whole] : allContainers(spec).map((one) => one.resources ?? {});
  if (!resources.some(hasAny)) return 'BestEffort';
  const isGuaranteed = resources.every(({ limits, requests }) =>
    counted.every((name) => {
      const limit = amountOf(limits as Amounts | undefined, name);
      const request = amountOf(requests as Amounts | undefined, name);
      return limit > 0n && (request === 0n || request === limit);
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function hasAny({ limits, requests }: { limits?: object; requests?: object }): boolean {
  return counted.some(
    (name) =>
      amountOf(limits as Amounts | undefined, name) > 0n ||
      amountOf(requests as Amounts | undefined, name) > 0n,
  );
}

function amountOf(amounts: Amounts | undefined, name: string): bigint {
  const amount = amounts?.[name];
  return amount === undefined ? 0n : quantityNanos(amount);
}
