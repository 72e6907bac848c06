/** The part of an OCI runtime configuration that we write. */
export interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

export interface OciIdMapping {
  readonly containerID: number;
  readonly hostID: number;
  readonly size: number;
}

export interface OciNamespace {
  readonly type: 'pid' | 'ipc' | 'uts' | 'mount' | 'cgroup' | 'network' | 'user';
  readonly path?: string;
}

export interface OciResources {
  readonly devices: readonly OciDeviceRule[];
  readonly memory?: { readonly limit: number; readonly swap: number };
  readonly cpu?: { readonly shares?: number; readonly quota?: number; readonly period?: number };
  readonly pids: { readonly limit: number };
}

export interface OciDeviceRule {
  readonly allow: boolean;
  readonly type?: 'c' | 'b';
  readonly major?: number;
  readonly minor?: number;
  readonly access: string;
}

interface OciSeccompArg {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_NE' | 'SCMP_CMP_MASKED_EQ';
}

export interface OciSeccompRule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly errnoRet?: number;
  readonly args?: readonly OciSeccompArg[];
}

export interface OciSeccomp {
  readonly defaultAction: 'SCMP_ACT_ERRNO';
  readonly defaultErrnoRet: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly OciSeccompRule[];
}

export interface OciCapabilities {
  readonly bounding: readonly string[];
  readonly effective: readonly string[];
  readonly permitted: readonly string[];
  readonly inheritable: readonly string[];
  readonly ambient: readonly string[];
}

interface OciHook {
  readonly path: string;
  readonly args: readonly string[];
}

export interface OciHooks {
  /** Run in the container's namespaces while the machine's root is still to be seen. */
  readonly createContainer: readonly OciHook[];
}

export interface OciSpec {
  readonly ociVersion: string;
  readonly process: {
    readonly terminal: boolean;
    readonly user: { readonly uid: number; readonly gid: number; readonly additionalGids: readonly number[] };
    readonly args: readonly string[];
    readonly env: readonly string[];
    readonly cwd: string;
    readonly capabilities: OciCapabilities;
    readonly noNewPrivileges: true;
  };
  readonly root: { readonly path: string; readonly readonly: boolean };
  readonly hostname: string;
  readonly mounts: readonly OciMount[];
  readonly hooks?: OciHooks;
  readonly linux: {
    readonly cgroupsPath: string;
    readonly namespaces: readonly OciNamespace[];
    readonly uidMappings?: readonly OciIdMapping[];
    readonly gidMappings?: readonly OciIdMapping[];
    readonly resources: OciResources;
    readonly seccomp: OciSeccomp;
    readonly maskedPaths: readonly string[];
    readonly readonlyPaths: readonly string[];
  };
}
