/** Who a pod's processes are and what they may do. */
import type { Container, PodSpec } from '@hutch/kube-meta';
import { invalidValue, type Problem, required, unsupportedValue } from '../../problems.ts';
import { inRange, oneOf } from '../checks.ts';
import { descendingPath } from './volumes.ts';

type PodContext = NonNullable<PodSpec['securityContext']>;
type Context = NonNullable<Container['securityContext']>;
type Seccomp = NonNullable<Context['seccompProfile']>;

const maxId = 2 ** 31 - 1;

function idProblems(context: PodContext | Context, path: string): Problem[] {
  return (['fsGroup', 'runAsUser', 'runAsGroup'] as const).flatMap((field) => {
    const id = (context as PodContext)[field];
    return id === undefined ? [] : inRange(`${path}.${field}`, id, 0, maxId);
  });
}

export function podSecurityProblems(spec: PodSpec, path: string): Problem[] {
  const context = spec.securityContext;
  if (!context) return [];
  const { supplementalGroups = [], sysctls = [], fsGroupChangePolicy, seccompProfile } = context;
  const shares = spec.shareProcessNamespace === true && spec.hostPID === true;
  const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
  return [
    ...idProblems(context, path),
    ...supplementalGroups.flatMap((id, at) => inRange(`${path}.supplementalGroups[${at}]`, id, 0, maxId)),
    ...(shares ? [invalidValue(`${path}.shareProcessNamespace`, true, detail)] : []),
    ...sysctls.flatMap(({ name }, at) => sysctlProblems(name, `${path}.sysctls[${at}].name`)),
    ...(fsGroupChangePolicy === undefined
      ? []
      : supported(`${path}.fsGroupChangePolicy`, fsGroupChangePolicy, ['Always', 'OnRootMismatch'])),
    ...(seccompProfile ? seccompProblems(seccompProfile, `${path}.seccompProfile`) : []),
  ];
}

export function securityProblems(context: Context, path: string, hostUsers: boolean): Problem[] {
  const { procMount, seccompProfile, allowPrivilegeEscalation, privileged, capabilities } = context;
  const contradictions =
    allowPrivilegeEscalation === false
      ? [
          ...(privileged === true
            ? ['cannot set `allowPrivilegeEscalation` to false and `privileged` to true']
            : []),
          ...((capabilities?.add ?? []) as string[])
            .filter((one) => one === 'CAP_SYS_ADMIN')
            .map(() => 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'),
        ]
      : [];
  return [
    ...idProblems(context, path),
    ...(procMount === undefined ? [] : supported(`${path}.procMount`, procMount, ['Default', 'Unmasked'])),
    ...(procMount === 'Unmasked' && hostUsers
      ? [invalidValue(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...(seccompProfile ? seccompProblems(seccompProfile, `${path}.seccompProfile`) : []),
    ...contradictions.map((detail) => invalidValue(path, shownContext(context), detail)),
  ];
}

const sysctlForm = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const sysctlRegExp = new RegExp(sysctlForm);

function sysctlProblems(name: string, path: string): Problem[] {
  if (name === '') return [required(path)];
  if (name.length <= 253 && sysctlRegExp.test(name)) return [];
  return [invalidValue(path, name, `must have at most 253 characters and match regex ${sysctlForm}`)];
}

/** As the server shows it: every member it can have. */
function shownContext(context: Context): object {
  const { capabilities, seccompProfile } = context;
  return {
    Capabilities: capabilities ? { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null } : null,
    Privileged: context.privileged ?? null,
    SELinuxOptions: context.seLinuxOptions ?? null,
    WindowsOptions: context.windowsOptions ?? null,
    RunAsUser: context.runAsUser ?? null,
    RunAsGroup: context.runAsGroup ?? null,
    RunAsNonRoot: context.runAsNonRoot ?? null,
    ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
    AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
    ProcMount: context.procMount ?? null,
    SeccompProfile: seccompProfile
      ? { Type: seccompProfile.type, LocalhostProfile: seccompProfile.localhostProfile ?? null }
      : null,
    AppArmorProfile: context.appArmorProfile ?? null,
  };
}

function supported(path: string, value: string, values: readonly string[]): Problem[] {
  return values.includes(value) ? [] : [unsupportedValue(path, value, values)];
}

function seccompProblems(profile: Seccomp, path: string): Problem[] {
  const { type, localhostProfile } = profile;
  const typeProblems = oneOf(`${path}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return typeProblems;
    const detail = 'can only be set when seccomp type is Localhost';
    return [...typeProblems, invalidValue(`${path}.localhostProfile`, profile, detail)];
  }
  if (localhostProfile === undefined) {
    return [required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost')];
  }
  return descendingPath(`${path}.localhostProfile`, localhostProfile);
}
