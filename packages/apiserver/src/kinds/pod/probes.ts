/** What may be said of probes and of what a container does when it starts and stops. */
import type { Container } from '@hutch/kube-meta';
import { forbiddenField, invalidValue, type Problem, required, unsupportedValue } from '../../problems.ts';
import { notNegative, portNumberOf, portOf } from '../checks.ts';

type Probe = NonNullable<Container['livenessProbe']>;
type Lifecycle = NonNullable<Container['lifecycle']>;
type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & NonNullable<Lifecycle['preStop']>;

export function probesProblems(container: Container, path: string, graceSeconds: number): Problem[] {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  return [
    ...(lifecycle ? lifecycleProblems(lifecycle, `${path}.lifecycle`, graceSeconds) : []),
    ...(livenessProbe ? onceProblems(livenessProbe, `${path}.livenessProbe`, graceSeconds) : []),
    ...(readinessProbe ? readinessProblems(readinessProbe, `${path}.readinessProbe`, graceSeconds) : []),
    ...(startupProbe ? onceProblems(startupProbe, `${path}.startupProbe`, graceSeconds) : []),
  ];
}

/** A container that runs once and is over has nothing to be probed. */
export function probesForbidden(container: Container, path: string): Problem[] {
  const fields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;
  const detail = 'may not be set for init containers without restartPolicy=Always';
  return fields
    .filter((field) => container[field] !== undefined)
    .map((field) => forbiddenField(`${path}.${field}`, detail));
}

function lifecycleProblems({ postStart, preStop }: Lifecycle, path: string, graceSeconds: number): Problem[] {
  return [
    ...(postStart ? handlerProblems(postStart as Handler, `${path}.postStart`, graceSeconds) : []),
    ...(preStop ? handlerProblems(preStop as Handler, `${path}.preStop`, graceSeconds) : []),
  ];
}

function probeProblems(probe: Probe, path: string, graceSeconds: number): Problem[] {
  const numbers = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const;
  const { terminationGracePeriodSeconds: grace } = probe;
  return [
    ...handlerProblems(probe as Handler, path, graceSeconds),
    ...numbers.flatMap((field) => notNegative(`${path}.${field}`, probe[field])),
    ...(grace !== undefined && grace <= 0
      ? [invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

function readinessProblems(probe: Probe, path: string, graceSeconds: number): Problem[] {
  const { terminationGracePeriodSeconds: grace } = probe;
  const detail = 'must not be set for readinessProbes';
  return [
    ...probeProblems(probe, path, graceSeconds),
    ...(grace === undefined ? [] : [invalidValue(`${path}.terminationGracePeriodSeconds`, grace, detail)]),
  ];
}

function onceProblems(probe: Probe, path: string, graceSeconds: number): Problem[] {
  const { successThreshold } = probe;
  return [
    ...probeProblems(probe, path, graceSeconds),
    ...(successThreshold === 1
      ? []
      : [invalidValue(`${path}.successThreshold`, successThreshold, 'must be 1')]),
  ];
}

const handlers: {
  readonly [K in keyof Handler]-?: (
    handler: NonNullable<Handler[K]>,
    path: string,
    graceSeconds: number,
  ) => Problem[];
} = {
  exec: ({ command = [] }, path) => (command.length === 0 ? [required(`${path}.command`)] : []),
  httpGet: ({ path: url = '', port, scheme, httpHeaders = [] }, path) => [
    ...(url === '' ? [required(`${path}.path`)] : []),
    ...portOf(`${path}.port`, port),
    ...(scheme === 'HTTP' || scheme === 'HTTPS'
      ? []
      : [unsupportedValue(`${path}.scheme`, scheme, ['HTTP', 'HTTPS'])]),
    ...httpHeaders.flatMap(({ name }) => headerProblems(`${path}.httpHeaders`, name)),
  ],
  tcpSocket: ({ port }, path) => portOf(`${path}.port`, port),
  grpc: ({ port }, path) => portNumberOf(`${path}.port`, port),
  sleep: ({ seconds }, path, graceSeconds) => {
    if (seconds >= 0 && seconds <= graceSeconds) return [];
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
    return [invalidValue(path, seconds, detail)];
  },
};

function headerProblems(path: string, name: string): Problem[] {
  if (/^[-A-Za-z0-9]+$/.test(name)) return [];
  const detail =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
  return [invalidValue(path, name, detail)];
}

function handlerProblems(handler: Handler, path: string, graceSeconds: number): Problem[] {
  const given = (Object.keys(handlers) as (keyof Handler)[]).filter((type) => handler[type] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap((type, at) => {
    if (at > 0) return [forbiddenField(`${path}.${type}`, 'may not specify more than 1 handler type')];
    const check = handlers[type] as (one: unknown, place: string, grace: number) => Problem[];
    return check(handler[type], `${path}.${type}`, graceSeconds);
  });
}
