import { StatusFault } from '@hutch/kube-meta';

/**
 * Awaits a creation and passes over a refusal because the namespace is going, or is gone: what should have
 * been made would go with it. A refusal for any other reason is thrown.
 */
export async function unlessTerminating<T>(creation: Promise<T>): Promise<T | undefined> {
  try {
    return await creation;
  } catch (err) {
    if (err instanceof StatusFault && isRefusedByNamespace(err)) return undefined;
    throw err;
  }
}

function isRefusedByNamespace({ status: { code, details } }: StatusFault): boolean {
  const isGoing = details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
  return isGoing || (code === 404 && details?.kind === 'namespaces');
}
