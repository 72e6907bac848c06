/** What goes over a wire and is no proper request: only byte-carrying targets can be asked. */
import { area } from '../harness/case.ts';
import { configMap, names, verdict } from './objects.ts';

export const bodyCases = area(
  'bodies',
  (add) => {
    const json = { 'content-type': 'application/json' };
    const texts: Readonly<Record<string, string>> = {
      'no JSON': 'nonsense',
      'JSON that is cut off': '{"metadata": {"name": "a"',
      'two values': '{"metadata":{"name":"a"}} {"x":1}',
      'a list': '[]',
      'a text': '"x"',
      'a number': '1',
      null: 'null',
      'an empty object': '{}',
      nothing: '',
      'a byte order mark': '\u{feff}{"metadata":{"name":"a"}}',
      'a trailing comma': '{"metadata":{"name":"a"},}',
      'a single quote': "{'metadata':{}}",
      NaN: '{"metadata":{"name":"a"},"data":{"k":NaN}}',
      'a bad escape': '{"metadata":{"name":"a"},"data":{"k":"\\x"}}',
    };
    for (const [what, body] of Object.entries(texts)) {
      add(`a body with ${what}`, async (s) => {
        await s.send({ method: 'POST', path: s.in('configmaps'), headers: json, body }, { show: verdict });
      });
    }
    add('a body without a type is JSON', async (s) => {
      await s.send(
        { method: 'POST', path: s.in('configmaps'), body: JSON.stringify(configMap('a')) },
        { show: verdict },
      );
    });
    add('a type with parameters', async (s) => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      await s.send(
        { method: 'POST', path: s.in('configmaps'), headers, body: JSON.stringify(configMap('a')) },
        { show: verdict },
      );
    });
    for (const type of [
      'text/plain',
      'application/xml',
      'application/merge-patch+json',
      'nonsense',
      '*/*',
      'text/*',
    ]) {
      add(`a body of type ${type}`, async (s) => {
        const headers = { 'content-type': type };
        await s.send(
          { method: 'POST', path: s.in('configmaps'), headers, body: JSON.stringify(configMap('a')) },
          { show: verdict },
        );
      });
    }
    add('YAML is understood', async (s) => {
      const headers = { 'content-type': 'application/yaml' };
      const body = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n`;
      await s.send({ method: 'POST', path: s.in('configmaps'), headers, body }, { show: verdict });
    });
    add('a body beside a GET is ignored', async (s) => {
      await s.send({ method: 'GET', path: s.in('secrets'), headers: json, body: '{"x":1}' }, { show: names });
    });
    add('HEAD answers like GET without a body', async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.send({ method: 'HEAD', path: s.in('configmaps', 'a') }, { showHeaders: ['content-type'] });
      await s.send({ method: 'HEAD', path: s.in('configmaps', 'b') }, { showHeaders: ['content-type'] });
    });
    add('OPTIONS is not a method of a resource', async (s) => {
      await s.send({ method: 'OPTIONS', path: s.in('configmaps') });
    });
    add('answers are JSON and not cached', async (s) => {
      await s.send(
        { method: 'GET', path: s.in('secrets') },
        { show: names, showHeaders: ['content-type', 'cache-control'] },
      );
      await s.send({ method: 'GET', path: '/healthz' }, { showHeaders: ['content-type', 'cache-control'] });
      await s.send({ method: 'GET', path: '/nothing' }, { showHeaders: ['content-type', 'cache-control'] });
    });
    const accepts = [
      'application/json',
      '*/*',
      'application/*',
      'text/plain',
      'application/xml',
      'application/xml, */*;q=0.1',
      'application/vnd.kubernetes.protobuf, application/json',
      'nonsense',
      'application/json;as=Nonsense;v=v1;g=meta.k8s.io',
      'application/json;as=Table;v=v2;g=meta.k8s.io',
      'application/json;as=Table;v=v1;g=meta.k8s.io, application/json',
      'application/json;as=Nonsense;v=v1;g=meta.k8s.io, application/json',
      'application/json;pretty=1',
      'text/plain, application/json;q=0.5',
    ];
    for (const accept of accepts.filter((one) => !one.includes('protobuf'))) {
      add(`Accept ${accept}`, async (s) => {
        await s.prepare('POST', s.in('configmaps'), configMap('a'));
        await s.send(
          { method: 'GET', path: s.in('configmaps', 'a'), headers: { accept } },
          {
            show: (body) =>
              (body as { kind?: string }).kind === 'Status' ? body : (body as { kind?: string }).kind,
            showHeaders: ['content-type'],
          },
        );
      });
    }
  },
  { needs: 'bytes' },
);
