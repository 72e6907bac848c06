import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { systemClock } from '@hutch/base';
import { rawConnection, readAll, readUntil, startRouter, startSandbox, to, tokenFor } from './test-rig.ts';

/** A request as bytes, so that nothing but the router can change it. */
const rawRequest = (port: number, line: string, headers: string[] = [], body = '') =>
  [
    line,
    'Host: router',
    'X-Sandbox-ID: a',
    `X-Sandbox-Port: ${port}`,
    `X-Hutch-Token: ${tokenFor()}`,
    'Connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');

const seen = () => {
  const requests: { method: string; url: string; rawHeaders: string[]; body: string }[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += (chunk as Buffer).toString('latin1');
    const { method = '', url = '', rawHeaders } = request;
    requests.push({ method, url, rawHeaders, body });
    response.end('ok');
  };
  return { requests, listener };
};

const pairs = (raw: string[]) => raw.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${raw[i + 1]}`] : []));

describe('what reaches the sandbox', () => {
  const targets = [
    '/',
    '/a/b?c=d',
    '/v1/files/%2Fetc%2Fpasswd',
    '/%2e%2e/x',
    '/a/../b/./c',
    '//double//slash',
    '/a?b=%zz&c=#x',
    '/x?',
    '/a;b=c,d',
    '/%',
  ];
  for (const target of targets) {
    test(`path ${JSON.stringify(target)} arrives byte for byte`, async () => {
      const { requests, listener } = seen();
      await using sandbox = await startSandbox(listener);
      await using router = await startRouter();
      const socket = await rawConnection(router.port);
      socket.write(rawRequest(sandbox.port, `GET ${target} HTTP/1.1`), 'latin1');
      assert.match(await readAll(socket), /^HTTP\/1.1 200 OK/);
      assert.equal(requests[0]?.url, target);
    });
  }

  test('a whole URL becomes its path', async () => {
    const { requests, listener } = seen();
    await using sandbox = await startSandbox(listener);
    await using router = await startRouter();
    for (const [url, path] of [
      ['http://x/y?z', '/y?z'],
      ['http://x', '/'],
      ['http://x?q', '/?q'],
    ]) {
      const socket = await rawConnection(router.port);
      socket.write(rawRequest(sandbox.port, `GET ${url} HTTP/1.1`));
      await readAll(socket);
      assert.equal(requests.at(-1)?.url, path);
    }
  });

  test('headers keep their order, case and repetitions; ours and hop-by-hop ones do not pass', async () => {
    const { requests, listener } = seen();
    await using sandbox = await startSandbox(listener);
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(
      [
        'GET / HTTP/1.1',
        'Host: router.example',
        'Accept: one',
        'X-Sandbox-ID: a',
        'accept: two',
        `X-Sandbox-Port: ${sandbox.port}`,
        `X-Hutch-Token: ${tokenFor()}`,
        'Authorization: Bearer for-the-program',
        'Cookie: a=1',
        'Cookie: b=2',
        'X-Latin: caf\xe9',
        'X-Empty:',
        'Connection: close, X-Mine',
        'X-Mine: 1',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic eA==',
        'TE: trailers, deflate',
        'Trailer: X-T',
        'Forwarded: for=evil',
        'X-Forwarded-For: 6.6.6.6',
        'X-Forwarded-Host: evil',
        'X-Forwarded-Proto: gopher',
        'X-Forwarded-Prefix: /p',
        'Origin: http://page',
        '',
        '',
      ].join('\r\n'),
      'latin1',
    );
    await readAll(socket);
    const lines = pairs(requests[0]?.rawHeaders ?? []).filter((line) => !/^(connection|host):/i.test(line));
    assert.deepEqual(lines, [
      'Accept: one',
      'X-Sandbox-ID: a',
      'accept: two',
      `X-Sandbox-Port: ${sandbox.port}`,
      'Authorization: Bearer for-the-program',
      'Cookie: a=1',
      'Cookie: b=2',
      'X-Latin: caf\xe9',
      'X-Empty: ',
      'X-Forwarded-Prefix: /p',
      'Origin: http://page',
      'TE: trailers',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Host: router.example',
      'X-Forwarded-Proto: http',
    ]);
    const hosts = pairs(requests[0]?.rawHeaders ?? []).filter((line) => /^host:/i.test(line));
    assert.deepEqual(hosts, [`host: 127.0.0.1:${sandbox.port}`]);
  });

  test('a bearer token that admitted the request does not reach the sandbox', async () => {
    const { requests, listener } = seen();
    await using sandbox = await startSandbox(listener);
    await using router = await startRouter();
    const { 'X-Hutch-Token': _, ...route } = to(sandbox.port);
    for (const token of ['good', tokenFor()]) {
      await fetch(router.url, { headers: { ...route, Authorization: `Bearer ${token}` } });
      assert.ok(!requests.at(-1)?.rawHeaders.some((part) => part.includes(token)));
    }
  });

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND', 'REPORT']) {
    test(`method ${method} passes`, async () => {
      const { requests, listener } = seen();
      await using sandbox = await startSandbox(listener);
      await using router = await startRouter();
      const response = await send(router.url, { method, headers: to(sandbox.port) });
      assert.equal(response.statusCode, 200);
      assert.equal(requests[0]?.method, method);
    });
  }

  test('bodies arrive whole, with a length or in chunks', async () => {
    const { requests, listener } = seen();
    await using sandbox = await startSandbox(listener);
    await using router = await startRouter();
    const body = randomBytes(300_000);
    await send(
      router.url,
      { method: 'POST', headers: { ...to(sandbox.port), 'Content-Length': body.length } },
      body,
    );
    await send(
      router.url,
      { method: 'POST', headers: to(sandbox.port, { 'Transfer-Encoding': 'chunked' }) },
      body,
    );
    await send(
      router.url,
      { method: 'DELETE', headers: to(sandbox.port, { 'Transfer-Encoding': 'chunked' }) },
      'bye',
    );
    await send(router.url, { method: 'POST', headers: to(sandbox.port, { 'Content-Length': '0' }) });
    const bodies = requests.map((request) => request.body);
    assert.deepEqual(bodies, [body.toString('latin1'), body.toString('latin1'), 'bye', '']);
    assert.ok(requests[0]?.rawHeaders.includes(String(body.length)));
  });

  test('a client that asks first sends its body once it is admitted, and not otherwise', async () => {
    const { requests, listener } = seen();
    await using sandbox = await startSandbox(listener);
    await using router = await startRouter();
    const admitted = await rawConnection(router.port);
    admitted.write(
      rawRequest(sandbox.port, 'POST / HTTP/1.1', ['Content-Length: 2', 'Expect: 100-continue']),
    );
    assert.match(await readUntil(admitted, '\r\n\r\n'), /^HTTP\/1.1 100 Continue/);
    admitted.write('hi');
    assert.match(await readAll(admitted), /^HTTP\/1.1 200 OK/);
    assert.equal(requests[0]?.body, 'hi');

    const refused = await rawConnection(router.port);
    refused.write(
      'POST / HTTP/1.1\r\nHost: x\r\nX-Sandbox-ID: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    );
    assert.match(await readUntil(refused, '}'), /^HTTP\/1.1 401/);
    refused.destroy();
  });
});

function send(
  url: string,
  options: object,
  body?: string | Buffer,
): Promise<IncomingMessage & { text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent: false, ...options }, async (response) => {
      let text = '';
      for await (const chunk of response) text += (chunk as Buffer).toString('latin1');
      resolve(Object.assign(response, { text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe('what comes back', () => {
  test('status, reason, headers and trailers pass as they are', async () => {
    await using sandbox = await startSandbox((_request, response) => {
      response.sendDate = false;
      response.writeHead(418, 'Short And Stout', [
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-CaSe',
        '1',
        'Connection',
        'X-Hop',
        'X-Hop',
        '1',
        'Trailer',
        'X-Sum',
      ]);
      response.write('tea');
      response.addTrailers({ 'X-Sum': '3' });
      response.end();
    });
    await using router = await startRouter();
    const response = await send(router.url, { headers: to(sandbox.port) });
    assert.equal(response.statusCode, 418);
    assert.equal(response.statusMessage, 'Short And Stout');
    assert.deepEqual(pairs(response.rawHeaders), [
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'X-CaSe: 1',
      'Trailer: X-Sum',
      'Connection: close',
      'Transfer-Encoding: chunked',
    ]);
    assert.equal(response.text, 'tea');
    assert.deepEqual(response.rawTrailers, ['X-Sum', '3']);
  });

  test('redirects are not followed and compressed bodies not touched', async () => {
    await using sandbox = await startSandbox((_request, response) => {
      response.writeHead(302, { Location: 'http://elsewhere/', 'Content-Encoding': 'gzip' });
      response.end(Buffer.from([0x1f, 0x8b, 1, 2]));
    });
    await using router = await startRouter();
    const response = await send(router.url, { headers: to(sandbox.port) });
    assert.equal(response.statusCode, 302);
    assert.equal(response.headers.location, 'http://elsewhere/');
    assert.equal(response.text, '\x1f\x8b\x01\x02');
  });

  test('the answer to HEAD keeps its length and has no body', async () => {
    await using sandbox = await startSandbox((_request, response) => {
      response.writeHead(200, { 'Content-Length': 1234 }).end();
    });
    await using router = await startRouter();
    const response = await send(router.url, { method: 'HEAD', headers: to(sandbox.port) });
    assert.equal(response.headers['content-length'], '1234');
    assert.equal(response.text, '');
  });

  for (const status of [204, 304]) {
    test(`${status} has no body`, async () => {
      await using sandbox = await startSandbox((_request, response) => void response.writeHead(status).end());
      await using router = await startRouter();
      const response = await send(router.url, { headers: to(sandbox.port) });
      assert.equal(response.statusCode, status);
      assert.equal(response.headers['transfer-encoding'], undefined);
    });
  }

  test('the head and each event come as they are made, not at the end', async () => {
    const open = Promise.withResolvers<ServerResponse>();
    await using sandbox = await startSandbox((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.flushHeaders();
      open.resolve(response);
    });
    await using router = await startRouter();
    const response = await fetch(router.url, { headers: to(sandbox.port) });
    const reader = response.body?.getReader();
    const events = await open.promise;
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      events.write(event);
      assert.equal(new TextDecoder().decode((await reader?.read())?.value), event);
    }
    events.end();
    assert.equal((await reader?.read())?.done, true);
  });

  test('interim answers pass', async () => {
    await using sandbox = await startSandbox((_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('ok'));
    });
    await using router = await startRouter();
    const request = httpRequest(router.url, { headers: to(sandbox.port) });
    const hints = once(request, 'information');
    const answer = once(request, 'response');
    request.end();
    const [information] = (await hints) as [{ statusCode: number; headers: { link: string } }];
    assert.equal(information.statusCode, 103);
    assert.equal(information.headers.link, '</a.css>; rel=preload');
    const [response] = (await answer) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
  });

  test('an answer may come before the request is over, and the connection goes on', async () => {
    await using sandbox = await startSandbox((request, response) => {
      request.once('data', () => response.writeHead(413).end('enough'));
    });
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    const head = (path: string) =>
      [
        'Host: x',
        'X-Sandbox-ID: a',
        `X-Sandbox-Port: ${sandbox.port}`,
        `X-Hutch-Token: ${tokenFor()}`,
      ].reduce((text, line) => `${text}${line}\r\n`, `POST ${path} HTTP/1.1\r\n`);
    socket.write(`${head('/1')}Content-Length: 100000\r\n\r\n`);
    socket.write('x'.repeat(1000));
    assert.match(await readUntil(socket, 'enough'), /^HTTP\/1.1 413/);
    socket.write('x'.repeat(99_000));
    socket.write(`${head('/2')}Content-Length: 1\r\n\r\nx`);
    assert.match(await readUntil(socket, 'enough'), /^HTTP\/1.1 413/);
    socket.destroy();
  });
});

describe('failures', () => {
  test('a port nobody listens on is dialled again, then told', async () => {
    const waits: number[] = [];
    const clock = { now: () => new Date(), sleep: async (ms: number) => void waits.push(ms) };
    await using router = await startRouter({ clock });
    const closed = await startSandbox(() => {});
    await closed[Symbol.asyncDispose]();
    const response = await send(
      router.url,
      { method: 'POST', headers: to(closed.port, { 'Content-Length': '2' }) },
      'hi',
    );
    assert.equal(response.statusCode, 502);
    assert.equal(response.text, '{"detail":"Could not connect to the backend sandbox: a"}\n');
    assert.deepEqual(waits, [200, 400, 800]);
  });

  test('a sandbox that listens a moment later gets the request, body and all', async () => {
    const { requests, listener } = seen();
    const place = await startSandbox(() => {});
    await place[Symbol.asyncDispose]();
    const later = Promise.withResolvers<AsyncDisposable>();
    const clock = {
      now: () => new Date(),
      sleep: async () => {
        const { createServer } = await import('node:http');
        const server = createServer(listener).listen(place.port, '127.0.0.1');
        await once(server, 'listening');
        later.resolve({
          async [Symbol.asyncDispose]() {
            server.closeAllConnections();
            server.close();
          },
        });
      },
    };
    await using router = await startRouter({ clock });
    const response = await send(
      router.url,
      { method: 'POST', headers: to(place.port, { 'Content-Length': '2' }) },
      'hi',
    );
    await using _sandbox = await later.promise;
    assert.equal(response.statusCode, 200);
    assert.deepEqual(
      requests.map(({ body }) => body),
      ['hi'],
    );
  });

  test('what a sandbox may have seen is never sent twice', async () => {
    let requests = 0;
    await using sandbox = await startSandbox((request) => {
      requests++;
      request.socket.destroy();
    });
    await using router = await startRouter();
    const response = await send(router.url, { headers: to(sandbox.port) });
    assert.equal(response.statusCode, 502);
    assert.equal(requests, 1);
  });

  test('a sandbox that never answers is told after the time for it', async () => {
    await using sandbox = await startSandbox(() => {});
    await using router = await startRouter({ headersTimeoutMs: 50 });
    assert.equal((await send(router.url, { headers: to(sandbox.port) })).statusCode, 502);
  });

  for (const [what, head] of [
    ['a reason with control characters', 'HTTP/1.1 200 a\x01b\x7f\r\nContent-Length: 2\r\n\r\nok'],
    ['a reason that is no text', 'HTTP/1.1 200 \xff\xfe\x01\r\nContent-Length: 2\r\n\r\nok'],
    ['a header with control characters', 'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\nok'],
    ['a status beyond all statuses', 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok'],
    [
      'a framing header as trailer',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['no HTTP at all', '\x00\x01\x02\r\n\r\n'],
  ] as const) {
    test(`an answer with ${what} hurts nobody but its own client`, async () => {
      await using sandbox = await startSandbox((request) => {
        request.socket.end(Buffer.from(head, 'latin1'));
      });
      await using router = await startRouter();
      await send(router.url, { headers: to(sandbox.port) }).catch(() => {}); // refused or passed, as it may be
      const probe = await send(`${router.url}/healthz`, {});
      assert.equal(probe.statusCode, 200);
    });
  }

  test('an answer that breaks off is broken off for the client too', async () => {
    await using sandbox = await startSandbox((_request, response) => {
      response.writeHead(200, { 'Content-Length': 10 });
      response.write('half', () => response.socket?.destroy());
    });
    await using router = await startRouter();
    const response = await fetch(router.url, { headers: to(sandbox.port) });
    await assert.rejects(response.text());
  });

  test('a client that goes away takes its request to the sandbox with it', async () => {
    const gone = Promise.withResolvers<void>();
    await using sandbox = await startSandbox((request, response) => {
      request.socket.once('close', () => gone.resolve());
      response.write('first');
    });
    await using router = await startRouter();
    const abort = new AbortController();
    const response = await fetch(router.url, { headers: to(sandbox.port), signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    await gone.promise;
  });

  test('a client that breaks off its body breaks off the sandbox’s too', async () => {
    const broken = Promise.withResolvers<void>();
    await using sandbox = await startSandbox((request) => {
      request.once('error', () => broken.resolve());
      request.resume();
    });
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(rawRequest(sandbox.port, 'PUT / HTTP/1.1', ['Content-Length: 1000'], 'some'));
    await once(sandbox.server, 'request');
    socket.destroy();
    await broken.promise;
  });

  test('a request target no server could read is refused', async () => {
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(rawRequest(1, 'OPTIONS * HTTP/1.1'));
    assert.match(await readAll(socket), /^HTTP\/1.1 400/);
  });
});

describe('bodies flow only as fast as they are read', () => {
  const size = 64 << 20;
  const chunk = randomBytes(1 << 20);

  test('downloads: a slow client holds the sandbox back', async () => {
    let sent = 0;
    await using sandbox = await startSandbox(async (_request, response) => {
      for (; sent < size; sent += chunk.length) {
        if (!response.write(chunk)) await once(response, 'drain');
      }
      response.end();
    });
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.pause();
    socket.write(rawRequest(sandbox.port, 'GET / HTTP/1.1'));
    await settled(() => sent);
    assert.ok(sent < size / 2, `${sent} bytes left the sandbox with nobody reading`);
    let received = 0;
    for await (const part of socket) received += (part as Buffer).length;
    assert.ok(received > size);
    assert.equal(sent, size);
  });

  test('uploads: a slow sandbox holds the client back, and every byte arrives', async () => {
    const go = Promise.withResolvers<void>();
    const hash = createHash('sha256');
    await using sandbox = await startSandbox(async (request, response) => {
      await go.promise;
      for await (const part of request) hash.update(part as Buffer);
      response.end('ok');
    });
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(rawRequest(sandbox.port, 'PUT / HTTP/1.1', [`Content-Length: ${size}`]));
    const expected = createHash('sha256');
    let sent = 0;
    const sending = (async () => {
      for (; sent < size; sent += chunk.length) {
        expected.update(chunk);
        if (!socket.write(chunk)) await once(socket, 'drain');
      }
    })();
    await settled(() => sent);
    assert.ok(sent < size / 2, `${sent} bytes were taken with nobody reading`);
    go.resolve();
    await sending;
    assert.match(await readAll(socket), /^HTTP\/1.1 200/);
    assert.equal(hash.digest('hex'), expected.digest('hex'));
  });

  /** Waits until a figure has stopped growing: full buffers give no other sign. */
  async function settled(figure: () => number): Promise<void> {
    for (let last = -1; last !== figure(); ) {
      last = figure();
      await systemClock.sleep(100);
    }
  }
});

describe('an upgrade', () => {
  const echo = () =>
    startSandbox((_request, response) => void response.writeHead(426, { 'X-Plain': '1' }).end('upgrade!'));
  const accept = (sandbox: Awaited<ReturnType<typeof startSandbox>>, heads: string[][] = []) => {
    sandbox.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      heads.push(pairs(request.rawHeaders));
      socket.on('error', () => {});
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\nX-More: 1\r\n\r\nhello',
      );
      if (head.length > 0) socket.write(head);
      socket.pipe(socket);
    });
    return heads;
  };
  const upgradeLines = [
    'Connection: Upgrade',
    'Upgrade: echo/1',
    'Sec-WebSocket-Key: k',
    'Origin: http://page',
  ];
  const handshake = (port: number, more: string[] = upgradeLines) =>
    [
      'GET /ws?x HTTP/1.1',
      'Host: r',
      'X-Sandbox-ID: a',
      `X-Sandbox-Port: ${port}`,
      `X-Hutch-Token: ${tokenFor()}`,
      ...more,
      '',
      '',
    ].join('\r\n');

  test('becomes a tunnel for any protocol, with what was sent ahead', async () => {
    await using sandbox = await echo();
    const heads = accept(sandbox);
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(`${handshake(sandbox.port)}ahead`);
    const answer = await readUntil(socket, 'ahead');
    assert.equal(
      answer.slice(0, answer.indexOf('\r\n\r\n')),
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\nX-More: 1',
    );
    assert.match(answer, /\r\n\r\nhelloahead$/);
    socket.write('\x00\xff bytes', 'latin1');
    assert.equal(await readUntil(socket, 'bytes'), '\x00\xff bytes');
    const [head = []] = heads;
    assert.ok(head.includes('Sec-WebSocket-Key: k'));
    assert.ok(!head.some((line) => /^(origin|x-hutch-token)/i.test(line)));
    socket.end();
    assert.equal(await readAll(socket), '');
  });

  test('carries megabytes both ways unchanged', async () => {
    await using sandbox = await echo();
    accept(sandbox);
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(handshake(sandbox.port));
    await readUntil(socket, 'hello');
    const data = randomBytes(8 << 20);
    const hash = createHash('sha256');
    let received = 0;
    const receiving = (async () => {
      for await (const part of socket) {
        hash.update(part as Buffer);
        received += (part as Buffer).length;
        if (received === data.length) return;
      }
    })();
    socket.write(data);
    await receiving;
    assert.equal(hash.digest('hex'), createHash('sha256').update(data).digest('hex'));
  });

  test('refused by the sandbox is an ordinary answer', async () => {
    await using sandbox = await echo();
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(handshake(sandbox.port));
    const answer = await readAll(socket);
    assert.match(answer, /^HTTP\/1.1 426 Upgrade Required\r\nX-Plain: 1\r\n/);
    assert.match(answer, /upgrade!/);
  });

  test('without a token is refused', async () => {
    await using sandbox = await echo();
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(handshake(sandbox.port).replace(/X-Hutch-Token: .*\r\n/, ''));
    assert.match(await readAll(socket), /^HTTP\/1.1 401[\s\S]*\{"detail":"unauthenticated"\}\n$/);
  });

  test('to a sandbox that is away is told', async () => {
    const closed = await echo();
    await closed[Symbol.asyncDispose]();
    await using router = await startRouter({ clock: { now: () => new Date(), sleep: async () => {} } });
    const socket = await rawConnection(router.port);
    socket.write(handshake(closed.port));
    assert.match(await readAll(socket), /^HTTP\/1.1 502/);
  });

  test('with a body is an ordinary request', async () => {
    const { requests, listener } = seen();
    await using sandbox = await startSandbox(listener);
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write(`${handshake(sandbox.port, [...upgradeLines, 'Content-Length: 2'])}hi`);
    await readUntil(socket, 'ok');
    assert.equal(requests[0]?.body, 'hi');
    socket.destroy();
  });

  test('ends for the sandbox when the client is gone, and for the client when the sandbox is', async () => {
    await using sandbox = await startSandbox(() => {});
    let inside = Promise.withResolvers<Socket>();
    sandbox.server.on('upgrade', (_request, socket: Socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello');
      inside.resolve(socket);
    });
    await using router = await startRouter();
    const client = await rawConnection(router.port);
    client.write(handshake(sandbox.port));
    await readUntil(client, 'hello');
    const first = await inside.promise;
    const ended = once(first, 'end');
    first.resume();
    client.resetAndDestroy();
    await ended;

    inside = Promise.withResolvers<Socket>();
    const other = await rawConnection(router.port);
    other.write(handshake(sandbox.port));
    await readUntil(other, 'hello');
    const closed = once(other, 'close');
    other.resume();
    (await inside.promise).resetAndDestroy();
    await closed;
  });

  test('is cut when the router closes', async () => {
    await using sandbox = await echo();
    accept(sandbox);
    await using router = await startRouter();
    const client = await rawConnection(router.port);
    client.write(handshake(sandbox.port));
    await readUntil(client, 'hello');
    const closed = once(client, 'close');
    client.resume();
    await router.server.close();
    await closed;
  });
});

describe('requests that two servers could read differently', () => {
  const cases: { name: string; lines: string[] }[] = [
    { name: 'both length headers', lines: ['Content-Length: 4', 'Transfer-Encoding: chunked'] },
    { name: 'two lengths', lines: ['Content-Length: 4', 'Content-Length: 5'] },
    { name: 'a signed length', lines: ['Content-Length: +4'] },
    { name: 'a list of lengths', lines: ['Content-Length: 4, 4'] },
    { name: 'an unknown coding', lines: ['Transfer-Encoding: xchunked'] },
    { name: 'chunked not last', lines: ['Transfer-Encoding: chunked, identity'] },
    { name: 'chunked twice', lines: ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'] },
    { name: 'a space before the colon', lines: ['Content-Length : 4'] },
    { name: 'a folded line', lines: ['X-Fold: a', ' b'] },
    { name: 'a bare carriage return', lines: ['X-Bare: a\rb'] },
    { name: 'a null byte', lines: ['X-Null: a\0b'] },
    { name: 'a second Host', lines: ['Host: other'] },
  ];
  for (const { name, lines } of cases) {
    test(`${name} are refused and reach no sandbox`, async () => {
      const { requests, listener } = seen();
      await using sandbox = await startSandbox(listener);
      await using router = await startRouter();
      const socket = await rawConnection(router.port);
      socket.write(rawRequest(sandbox.port, 'POST / HTTP/1.1', lines, '0\r\n\r\n'), 'latin1');
      assert.match(await readAll(socket), /^HTTP\/1.1 400/);
      assert.equal(requests.length, 0);
    });
  }

  test('a request without Host is refused', async () => {
    await using router = await startRouter();
    const socket = await rawConnection(router.port);
    socket.write('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
    assert.match(await readAll(socket), /^HTTP\/1.1 400/);
  });
});

describe('closing', () => {
  test('lets a running request end', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    await using sandbox = await startSandbox((_request, response) => arrived.resolve(response));
    await using router = await startRouter();
    const answer = fetch(router.url, { headers: to(sandbox.port) });
    const response = await arrived.promise;
    const closed = router.server.close();
    response.end('done');
    assert.equal(await (await answer).text(), 'done');
    await closed;
  });

  test('a taken port is told as such', async () => {
    await using router = await startRouter();
    const { serveRouter } = await import('./server.ts');
    const nothing = { handleRequest: async () => {}, handleUpgrade: async () => {} };
    await assert.rejects(serveRouter(nothing, { host: '127.0.0.1', port: router.port }), {
      code: 'already-exists',
      message: /listen on 127\.0\.0\.1:\d+ for the router/,
    });
  });
});
