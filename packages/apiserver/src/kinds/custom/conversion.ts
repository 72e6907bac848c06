/**
 * Conversion by a webhook: somebody outside knows how the versions of a kind differ, and is asked.
 *
 * Of what it answers only content, labels and annotations are taken over: who an object is, it cannot change.
 */
import { statusFault } from '@hutch/kube-meta';
import { isObject, type JsonObject, omit } from '../../json.ts';
import type { ApiObject } from '../kind.ts';
import type { Conversion, WebhookClient } from './definition.ts';

/** One call: a document is posted to whoever the client describes, and the document it answers with is returned. */
export type CallWebhook = (client: WebhookClient, body: unknown) => Promise<unknown>;

export type Convert = (objects: readonly ApiObject[], apiVersion: string) => Promise<readonly ApiObject[]>;

/** Undefined when a definition's versions differ in nothing but their name. */
export function webhookConversion(
  conversion: Conversion | undefined,
  call: CallWebhook | undefined,
): Convert | undefined {
  const client = conversion?.webhook?.clientConfig;
  if (conversion?.strategy !== 'Webhook' || !client) return undefined;
  const reviewVersion =
    conversion.webhook?.conversionReviewVersions?.find((one) => one === 'v1') ?? 'v1beta1';
  return async (objects, apiVersion) => {
    const [first] = objects;
    if (!first) return [];
    const what = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`;
    const uid = crypto.randomUUID();
    const review = {
      kind: 'ConversionReview',
      apiVersion: `apiextensions.k8s.io/${reviewVersion}`,
      request: { uid, desiredAPIVersion: apiVersion, objects },
    };
    const answer = await asked(call, client, { review, what });
    const converted = convertedObjects(answer, { uid, reviewVersion, what });
    if (converted.length !== objects.length) {
      throw failed(`${what} returned ${converted.length} objects, expected ${objects.length}`);
    }
    return objects.map((object, at) => restored(object, converted[at], { apiVersion, what }));
  };
}

function failed(message: string, cause?: unknown): Error {
  return statusFault('internal', message, undefined, cause);
}

async function asked(
  call: CallWebhook | undefined,
  client: WebhookClient,
  { review, what }: { review: object; what: string },
): Promise<unknown> {
  if (!call) throw failed(`${what} failed: this server calls no webhooks`);
  try {
    return await call(client, review);
  } catch (err) {
    throw failed(`${what} failed: ${(err as Error).message}`, err);
  }
}

function convertedObjects(
  answer: unknown,
  { uid, reviewVersion, what }: { uid: string; reviewVersion: string; what: string },
): readonly unknown[] {
  const response = isObject(answer) ? answer.response : undefined;
  if (!isObject(response)) throw failed(`${what} failed: no response provided`);
  if (reviewVersion === 'v1' && response.uid !== uid) {
    throw failed(`${what} failed: expected response.uid="${uid}", got ${JSON.stringify(response.uid ?? '')}`);
  }
  const result = isObject(response.result) ? response.result : {};
  if (result.status !== 'Success') {
    const status = typeof result.status === 'string' ? result.status : '';
    const why =
      typeof result.message === 'string' && result.message !== ''
        ? result.message
        : `response.result.status was '${status}', not 'Success'`;
    throw failed(`${what} failed: ${why}`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

/** The converted object with the identity of the one it was made from. */
function restored(
  original: ApiObject,
  answer: unknown,
  { apiVersion, what }: { apiVersion: string; what: string },
): ApiObject {
  const refuse = (why: string) => failed(`${what} returned invalid object: ${why}`);
  if (!isObject(answer) || !isObject(answer.metadata)) throw refuse('missing metadata in converted object');
  if (answer.apiVersion !== apiVersion) {
    throw refuse(`invalid groupVersion (expected ${apiVersion}, received ${String(answer.apiVersion)})`);
  }
  if (answer.kind !== original.kind) {
    throw refuse(`invalid kind (expected ${original.kind}, received ${String(answer.kind)})`);
  }
  for (const field of ['name', 'namespace', 'uid'] as const) {
    const [expected, received] = [original.metadata[field] ?? '', answer.metadata[field] ?? ''];
    if (expected !== received)
      throw refuse(`must have the same ${field}: ${expected} != ${String(received)}`);
  }
  const { labels, annotations } = answer.metadata;
  const metadata = {
    ...omit(original.metadata, 'labels', 'annotations'),
    ...textMap('labels', labels, refuse),
    ...textMap('annotations', annotations, refuse),
  };
  return { ...answer, apiVersion, kind: original.kind, metadata } as unknown as ApiObject;
}

function textMap(name: string, value: unknown, refuse: (why: string) => Error): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw refuse(`invalid metadata.${name} in converted object`);
  const wrong = Object.keys(value).find((key) => typeof value[key] !== 'string');
  if (wrong !== undefined) throw refuse(`metadata.${name}[${wrong}] must be a string in converted object`);
  return { [name]: value };
}
