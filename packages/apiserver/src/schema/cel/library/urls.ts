import type { Environment } from '@marcbachmann/cel-js';

class Url {
  readonly url: URL;

  constructor(url: URL) {
    this.url = url;
  }
}

/** Only whole ones: `https://example.com/path` or `/path`. */
function urlOf(text: string): Url {
  const isPath = text.startsWith('/');
  if (!isPath && !/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text)) {
    throw new Error(
      `URL parse error during conversion from string: parse "${text}": invalid URI for request`,
    );
  }
  return new Url(isPath ? new URL(text, 'path://') : new URL(text));
}

function isUrl(text: string): boolean {
  try {
    return urlOf(text) !== undefined;
  } catch {
    return false;
  }
}

export function registerUrls(env: Environment): void {
  env.registerType('kubernetes.URL', { ctor: Url });
  const method = (signature: string, handler: (one: Url) => unknown) =>
    env.registerFunction(`kubernetes.URL.${signature}`, handler);

  env.registerFunction('url(string): kubernetes.URL', urlOf);
  env.registerFunction('isURL(string): bool', isUrl);
  method('getScheme(): string', ({ url }) => (url.protocol === 'path:' ? '' : url.protocol.slice(0, -1)));
  method('getHost(): string', ({ url }) => url.host);
  method('getHostname(): string', ({ url }) => url.hostname.replace(/^\[|\]$/g, ''));
  method('getPort(): string', ({ url }) => url.port);
  method('getEscapedPath(): string', ({ url }) => url.pathname);
  method('getQuery(): map<string, list<string>>', ({ url }) => {
    const query = new Map<string, string[]>();
    for (const [key, value] of url.searchParams) query.getOrInsertComputed(key, () => []).push(value);
    return query;
  });
}
