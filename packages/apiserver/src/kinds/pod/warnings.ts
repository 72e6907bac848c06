/** What is allowed in a pod and rarely meant. */
import { type Container, quantityNanos } from '@hutch/kube-meta';
import type { ApiObject } from '../kind.ts';
import { podSpec } from './spec.ts';

export function podWarnings(object: ApiObject): string[] {
  const { containers, initContainers, imagePullSecrets = [], hostAliases = [] } = podSpec(object);
  return [
    ...repeated(hostAliases.map(({ ip }) => ip)).map(
      ({ at, value }) => `spec.hostAliases[${at}].ip: duplicate ip ${quoted(value)}`,
    ),
    ...repeated(imagePullSecrets.map(({ name = '' }) => name))
      .filter(({ value }) => value !== '')
      .map(({ at, value }) => `spec.imagePullSecrets[${at}].name: duplicate name ${quoted(value)}`),
    ...imagePullSecrets.flatMap(({ name = '' }, at) =>
      name === '' ? [`spec.imagePullSecrets[${at}].name: invalid empty name ""`] : [],
    ),
    ...(initContainers ?? []).flatMap((one, at) => containerWarnings(one, `spec.initContainers[${at}]`)),
    ...(containers ?? []).flatMap((one, at) => containerWarnings(one, `spec.containers[${at}]`)),
  ];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function repeated(values: readonly string[]): { at: number; value: string }[] {
  return values.flatMap((value, at) => (values.indexOf(value) < at ? [{ at, value }] : []));
}

function containerWarnings(container: Container, path: string): string[] {
  return [
    ...amountWarnings(container, path),
    ...hiddenVariables(container.env ?? [], `${path}.env`),
    ...portWarnings(container.ports ?? [], `${path}.ports`),
  ];
}

function amountWarnings({ resources = {} }: Container, path: string): string[] {
  const names = ['memory', 'ephemeral-storage'];
  return names.flatMap((name) =>
    (['limits', 'requests'] as const).flatMap((side) => {
      const amount = (resources[side] as Readonly<Record<string, string>> | undefined)?.[name];
      const isWhole = amount === undefined || quantityNanos(amount) % 1_000_000_000n === 0n;
      const text = `fractional byte value ${quoted(amount ?? '')} is invalid, must be an integer`;
      return isWhole ? [] : [`${path}.resources.${side}[${name}]: ${text}`];
    }),
  );
}

/** A variable that builds on the one before it of its name is meant. */
function hiddenVariables(variables: NonNullable<Container['env']>, path: string): string[] {
  return variables.flatMap(({ name, value = '' }, at) => {
    const isHiding = variables.findIndex((one) => one.name === name) < at;
    if (!isHiding || value.includes(`$(${name})`)) return [];
    return [
      `${path}[${at}]: hides previous definition of ${quoted(name)}, which may be dropped when using apply`,
    ];
  });
}

function portWarnings(ports: NonNullable<Container['ports']>, path: string): string[] {
  return ports.flatMap(({ name, containerPort, protocol, hostPort, hostIP }, at) => {
    const before = ports.findIndex(
      (one) =>
        one.containerPort === containerPort &&
        one.protocol === protocol &&
        one.hostPort === hostPort &&
        one.hostIP === hostIP,
    );
    const namesake = name === undefined ? at : ports.findIndex((one) => one.name === name);
    const other = `${path}[${namesake}]`;
    return [
      ...(before < at ? [`${path}[${at}]: duplicate port definition with ${path}[${before}]`] : []),
      ...(namesake < at
        ? [
            `${path}[${at}]: duplicate port name ${quoted(name ?? '')} with ${other}, services and probes that select ports by name will use ${other}`,
          ]
        : []),
    ];
  });
}
