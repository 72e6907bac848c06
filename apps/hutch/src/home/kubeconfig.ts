/** What kubectl needs to know to speak with a home. */
import { dump } from 'js-yaml';

export interface KubeconfigFacts {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

export function kubeconfigText({ server, caPem, token }: KubeconfigFacts): string {
  return dump({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'hutch',
        cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
      },
    ],
    users: [{ name: 'hutch-admin', user: { token } }],
    contexts: [{ name: 'hutch', context: { cluster: 'hutch', user: 'hutch-admin', namespace: 'default' } }],
    'current-context': 'hutch',
  });
}
