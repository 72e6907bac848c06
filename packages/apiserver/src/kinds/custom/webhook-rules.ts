/** What may be said of how the versions of a definition are converted. */
import { forbiddenField, invalidValue, type Problem, required } from '../../problems.ts';
import { eachOf, inRange, oneOf } from '../checks.ts';
import type { Conversion, WebhookClient } from './definition.ts';
import { dns1035Problems } from './names.ts';

const path = 'spec.conversion';
const known = ['v1', 'v1beta1'];

export function conversionProblems(conversion: Conversion | undefined): Problem[] {
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  const client = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  const strategies = oneOf(`${path}.strategy`, strategy, ['None', 'Webhook']);
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    return [
      ...strategies,
      ...(client ? [forbiddenField(`${path}.webhookClientConfig`, detail)] : []),
      ...(versions.length > 0 ? [forbiddenField(`${path}.conversionReviewVersions`, detail)] : []),
    ];
  }
  return [
    ...strategies,
    ...(client
      ? clientProblems(client, `${path}.webhookClientConfig`)
      : [required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook')]),
    ...versionProblems(versions, `${path}.conversionReviewVersions`),
  ];
}

function clientProblems({ url, service }: WebhookClient, at: string): Problem[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(at, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return urlProblems(url, `${at}.url`);
  const { namespace = '', name = '', port = 443, path: target } = service ?? {};
  return [
    ...(name === '' ? [required(`${at}.service.name`, 'service name is required')] : []),
    ...(namespace === '' ? [required(`${at}.service.namespace`, 'service namespace is required')] : []),
    ...inRange(`${at}.service.port`, port, 1, 65_535).map(({ field }) =>
      invalidValue(field, port, 'port is not valid: must be between 1 and 65535, inclusive'),
    ),
    ...(target === undefined || target.startsWith('/')
      ? []
      : [invalidValue(`${at}.service.path`, target, "must start with a '/'")]),
  ];
}

function urlProblems(text: string, at: string): Problem[] {
  const form = '; desired format: https://host[/path]';
  if (!URL.canParse(text)) return [required(at, `url must be a valid URL${form}`)];
  const url = new URL(text);
  return [
    ...(url.protocol === 'https:'
      ? []
      : [invalidValue(at, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`)]),
    ...(url.host === '' ? [invalidValue(at, url.host, `host must be specified${form}`)] : []),
    ...(url.username !== ''
      ? [invalidValue(at, url.username, 'user information is not permitted in the URL')]
      : []),
    ...(url.hash !== ''
      ? [invalidValue(at, url.hash.slice(1), 'fragments are not permitted in the URL')]
      : []),
    ...(url.search !== ''
      ? [invalidValue(at, url.search.slice(1), 'query parameters are not permitted in the URL')]
      : []),
  ];
}

function versionProblems(versions: readonly string[], at: string): Problem[] {
  if (versions.length === 0) return [required(at)];
  const isKnown = versions.some((version) => known.includes(version));
  return [
    ...eachOf(versions, at, (version, place, index) =>
      versions.indexOf(version) < index
        ? [invalidValue(place, version, 'duplicate version')]
        : dns1035Problems(version).map((detail) => invalidValue(place, version, detail)),
    ),
    ...(isKnown ? [] : [invalidValue(at, versions, `must include at least one of ${known.join(', ')}`)]),
  ];
}
