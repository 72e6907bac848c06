// The whole surface of @hutch/apiserver.
export {
  type Authenticator,
  anonymous,
  bearerTokens,
  type Headers,
  type TokenUser,
} from './access/authentication.ts';
export {
  type Attributes,
  type Authorizer,
  type PathAttributes,
  type ResourceAttributes,
  type Rule,
  type RulesBySubject,
  rulesAuthorizer,
  type Verdict,
} from './access/authorization.ts';
export type { Converter } from './conversion.ts';
export { type CertificateOptions, type Certificates, ensureCertificates } from './doors/certificates.ts';
export {
  type HttpDoor,
  type HttpHandler,
  type HttpOptions,
  type HttpsOptions,
  httpHandler,
  serveHttp,
  serveHttps,
} from './doors/http.ts';
export type { CallWebhook } from './kinds/custom/conversion.ts';
export type { LogOptions, NodeStreams } from './node-streams.ts';
export { type ApiServer, type ApiServerDeps, createApiServer } from './server.ts';
export { httpsWebhooks, type WebhookOptions } from './webhooks.ts';
