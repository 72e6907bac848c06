/**
 * Sandbox tokens: `hutch1.<payload>.<signature>`, both parts unpadded base64url.
 *
 * The payload is JSON: key id, namespace, name, sandbox uid, claim uid, expiry. The signature is
 * HMAC-SHA256 over everything before the last dot, so neither the version nor a claim can be exchanged.
 * Nothing is stored: whoever holds the key can check a token, and a sandbox that is gone, adopted by
 * another claim or made anew under the same name has another uid, so old tokens end with it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface TokenClaims {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly claimUid: string | undefined;
  /** Seconds since 1970; at this second the token is already invalid. */
  readonly expiresAt: number;
}

export interface SigningKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

export type Verification =
  | { readonly outcome: 'valid'; readonly claims: TokenClaims }
  | { readonly outcome: 'malformed' | 'unknown-key' | 'bad-signature' | 'expired' };

const version = 'hutch1';
/** Far more than a token needs; keeps the cost of refusing garbage flat. */
const maxTokenChars = 2048;

/** Tells a sandbox token from any other bearer token, without judging it. */
export function isSandboxToken(text: string): boolean {
  return text.startsWith(`${version}.`);
}

export function signToken(claims: TokenClaims, key: SigningKey): string {
  const payload = {
    kid: key.id,
    ns: claims.namespace,
    name: claims.name,
    uid: claims.uid,
    ...(claims.claimUid === undefined ? {} : { claim: claims.claimUid }),
    exp: claims.expiresAt,
  };
  const signed = `${version}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${signed}.${signatureOf(signed, key.secret).toString('base64url')}`;
}

/** The id of the key a token says it was signed with. Not verified: only good for finding that key. */
export function keyIdOf(token: string): string | undefined {
  return parse(token)?.kid;
}

export function verifyToken(token: string, secret: Uint8Array | undefined, now: Date): Verification {
  const parsed = parse(token);
  if (!parsed) return { outcome: 'malformed' };
  if (!secret) return { outcome: 'unknown-key' };
  const expected = signatureOf(parsed.signed, secret);
  if (parsed.signature.length !== expected.length || !timingSafeEqual(parsed.signature, expected)) {
    return { outcome: 'bad-signature' };
  }
  if (now.getTime() >= parsed.claims.expiresAt * 1000) return { outcome: 'expired' };
  return { outcome: 'valid', claims: parsed.claims };
}

interface Parsed {
  readonly kid: string;
  readonly claims: TokenClaims;
  readonly signed: string;
  readonly signature: Buffer;
}

function parse(token: string): Parsed | undefined {
  if (token.length > maxTokenChars) return undefined;
  const [prefix, payloadText, signatureText, ...rest] = token.split('.');
  if (prefix !== version || !payloadText || !signatureText || rest.length > 0) return undefined;
  const payload = decode(payloadText);
  const signature = decode(signatureText);
  if (!payload || !signature) return undefined;
  const fields = parseJson(payload);
  if (!isPayload(fields)) return undefined;
  return {
    kid: fields.kid,
    claims: {
      namespace: fields.ns,
      name: fields.name,
      uid: fields.uid,
      claimUid: fields.claim,
      expiresAt: fields.exp,
    },
    signed: `${prefix}.${payloadText}`,
    signature,
  };
}

/** Only the one canonical spelling is accepted, so a token has exactly one form. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined; // a stranger's bytes: not a token
  }
}

interface Payload {
  readonly kid: string;
  readonly ns: string;
  readonly name: string;
  readonly uid: string;
  readonly claim?: string;
  readonly exp: number;
}

function isPayload(value: unknown): value is Payload {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  const texts = [fields.kid, fields.ns, fields.name, fields.uid];
  return (
    texts.every((text) => typeof text === 'string' && text !== '') &&
    (fields.claim === undefined || typeof fields.claim === 'string') &&
    Number.isSafeInteger(fields.exp)
  );
}

function signatureOf(signed: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(signed).digest();
}
