/** Names and hashes that the wire fixes: other controllers and clients compute the same ones. */
import { trackingLabel } from './metadata.ts';

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** 32-bit FNV-1a of the UTF-8 bytes, as eight lower-case hex digits. The value of the `…-hash` labels. */
export function nameHash(text: string): string {
  let hash = offsetBasis;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, prime);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** What `status.selector` says: the label selector that finds a sandbox's pod. */
export function trackingSelector(sandboxName: string): string {
  return `${trackingLabel}=${nameHash(sandboxName)}`;
}

/** The claim that a volume claim template of a sandbox becomes. */
export function volumeClaimName(templateName: string, sandboxName: string): string {
  return `${templateName}-${sandboxName}`;
}

/** The DNS name of a sandbox's headless Service, which is named like the sandbox. */
export function serviceFqdn(sandboxName: string, namespace: string, clusterDomain = 'cluster.local'): string {
  return `${sandboxName}.${namespace}.svc.${clusterDomain}`;
}
