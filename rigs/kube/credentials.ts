/** Who may speak to a rig's API server, and the files that say so. */
export interface RigUser {
  readonly token: string;
  readonly name: string;
  readonly groups?: readonly string[];
}

/** One line a user, as kube-apiserver's `--token-auth-file` reads it. */
export function tokenFile(users: readonly RigUser[]): string {
  return users
    .map(({ token, name, groups = [] }) => [token, name, name, groups.join(',')].map(quoted).join(','))
    .map((line) => `${line}\n`)
    .join('');
}

function quoted(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

export interface KubeconfigFacts {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** Whole in itself, so it may be copied elsewhere. JSON, which every reader of YAML reads. */
export function kubeconfigText({ url, ca, token }: KubeconfigFacts): string {
  const certificate = Buffer.from(ca).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'rig', cluster: { server: url, 'certificate-authority-data': certificate } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'rig', context: { cluster: 'rig', user: 'admin', namespace: 'default' } }],
    'current-context': 'rig',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
