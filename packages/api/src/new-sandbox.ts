/** The sandbox that our own CLI and SDK ask for: runtime injected, few rights, bounded resources, one workspace. */
import { apiVersionOf, type Container, type Draft, type StringMap } from '@hutch/kube-meta';
import { hostImage, runtimeAnnotation } from './runtime.ts';
import { type Sandbox, sandboxes } from './sandbox.ts';

export interface NewSandboxOptions {
  readonly name: string;
  readonly namespace: string;
  /** The machine's own tool chain when absent. */
  readonly image?: string | undefined;
  /** Runs as a child of the runtime for as long as the sandbox lives. Without it the runtime waits for work. */
  readonly command?: readonly string[] | undefined;
  readonly env?: StringMap | undefined;
  readonly resources?:
    | { readonly cpu?: string | undefined; readonly memory?: string | undefined }
    | undefined;
  /** Where commands start. The workspace when absent. */
  readonly workdir?: string | undefined;
  readonly annotations?: StringMap | undefined;
  readonly labels?: StringMap | undefined;
}

/** The volume of the default pod: what is kept there survives a container restart. */
export const workspacePath = '/workspace';
export const sandboxContainerName = 'sandbox';

/** Requests are left out: Kubernetes then reserves what is allowed, so a sandbox never starves its neighbours. */
export const defaultResources = { cpu: '1', memory: '1Gi' } as const;

export function newSandbox(options: NewSandboxOptions): Draft<Sandbox> {
  const { name, namespace, annotations, labels } = options;
  return {
    apiVersion: apiVersionOf(sandboxes),
    kind: sandboxes.kind,
    metadata: { name, namespace, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
    spec: {
      podTemplate: {
        metadata: { annotations: { [runtimeAnnotation]: 'inject' } },
        spec: {
          containers: [sandboxContainer(options)],
          volumes: [{ name: 'workspace', emptyDir: {} }],
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          // What must outlive a sandbox is on its volumes; nobody should wait for a polite end.
          terminationGracePeriodSeconds: 1,
        },
      },
    },
  };
}

function sandboxContainer({
  image = hostImage,
  command,
  env,
  resources,
  workdir,
}: NewSandboxOptions): Container {
  return {
    name: sandboxContainerName,
    image,
    ...(command && command.length > 0 ? { command: [...command] } : {}),
    ...(env ? { env: Object.entries(env).map(([name, value]) => ({ name, value })) } : {}),
    workingDir: workdir ?? workspacePath,
    resources: {
      limits: {
        cpu: resources?.cpu ?? defaultResources.cpu,
        memory: resources?.memory ?? defaultResources.memory,
      },
    },
    volumeMounts: [{ name: 'workspace', mountPath: workspacePath }],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
      // Only of our own image do we know that it names an ordinary user; many public images are root's.
      ...(image === hostImage ? { runAsNonRoot: true } : {}),
    },
  };
}
