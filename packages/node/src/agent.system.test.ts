/** The agent with real containers: what a pod is promised, and what is left when it is over. Needs root. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '@hutch/kube-meta';
import { hasEnded, isGone, isReady, script, TestHome, tracesOf } from './test-home.ts';
import { aContainer } from './test-objects.ts';

const server = aContainer({
  command: ['python3', '-m', 'http.server', '8888'],
  readinessProbe: { httpGet: { port: 8888, path: '/' } },
});
const sleeper = aContainer({ command: ['sleep', '1000'] });
const terminatedOf = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.terminated;

describe('a pod on this node', () => {
  let home: TestHome;
  before(async () => {
    home = await TestHome.open();
  });
  after(async () => {
    await home[Symbol.asyncDispose]();
  });

  test('becomes ready when its probe is answered, and is reachable at its address', async () => {
    const { metadata } = home.api.addPod('server', { containers: [server] });
    const pod = await home.api.until('server', isReady);
    assert.equal(pod?.status?.phase, 'Running');
    const answer = await fetch(`http://${pod?.status?.podIP}:8888/`);
    assert.equal(answer.status, 200);
    const times = home.agent.timings(metadata.uid);
    assert.deepEqual(Object.keys(times ?? {}), ['seen', 'prepared', 'created', 'started', 'ready']);
  });

  test('tells the exit code and keeps the output', async () => {
    const { pod, output } = await home.run('code', script('echo out; echo err >&2; exit 7'));
    assert.equal(pod.status?.phase, 'Failed');
    assert.equal(terminatedOf(pod)?.exitCode, 7);
    assert.equal(output, 'out\nerr\n');
  });

  test('sees only itself', async () => {
    const facts = `
      echo pids=$(ls /proc | grep -c '^[0-9]')
      echo uid=$(id -u) gid=$(id -g) home=$HOME cwd=$(pwd) host=$(hostname)
      echo caps=$(grep -E 'CapEff' /proc/self/status | cut -f2) nnp=$(grep NoNewPrivs /proc/self/status | cut -f2)
      echo seccomp=$(grep '^Seccomp:' /proc/self/status | cut -f2)
      echo root=$(ls /root 2>&1 | grep -c 'Permission denied') homes=$(ls /home)
      echo shadow=$(test -e /etc/shadow && echo yes || echo no)
      echo usr=$(touch /usr/x 2>&1 | grep -c 'Read-only') $(grep ' /usr ' /proc/mounts | grep -c 'ro,nosuid,nodev')
      echo net=$(ls /sys/class/net | tr '\\n' ' ')
      echo write=$(echo x > /workspace/x && cat /workspace/x)
      echo sysctl=$( (echo 1 > /proc/sys/kernel/panic) 2>/dev/null || echo refused)
      echo kcore=$(head -c 1 /proc/kcore 2>/dev/null | wc -c) firmware=$(ls /sys/firmware | wc -l) keys=$(wc -c < /proc/keys)
      echo mount=$(mount -t tmpfs x /mnt 2>/dev/null || echo refused) unshare=$(unshare -U true 2>/dev/null || echo refused)
      echo devices=$(find /dev -type b | wc -l)
      echo map=$(awk '{print $1, $3}' /proc/self/uid_map)`;
    const { output } = await home.run('inside', script(facts));
    const seen = Object.fromEntries(
      [...output.matchAll(/(\w+)=([^=\n]*?)(?= \w+=|\n)/g)].map(([, key, value]) => [key, value]),
    );
    assert.ok(Number(seen.pids) < 8, `${seen.pids} processes`);
    assert.deepEqual(
      { ...seen, pids: undefined },
      {
        pids: undefined,
        uid: '1000',
        gid: '1000',
        home: '/home/sandbox',
        cwd: '/workspace',
        host: 'inside',
        caps: '0000000000000000',
        nnp: '1',
        seccomp: '2',
        root: '1',
        homes: 'sandbox',
        shadow: 'no',
        usr: '1 1',
        net: 'eth0 lo',
        write: 'x',
        sysctl: 'refused',
        kcore: '0',
        firmware: '0',
        keys: '0',
        mount: 'refused',
        unshare: 'refused',
        devices: '0',
        map: '0 65536',
      },
    );
  });

  test('has a root that is nobody outside', async () => {
    const root = { securityContext: { runAsUser: 0 } };
    home.api.addPod('root', { containers: [{ ...sleeper, ...root }] });
    const pod = await home.api.until('root', isReady);
    assert.ok(pod);
    const status = await readFile(`/proc/${await home.pid(pod)}/status`, 'utf8');
    assert.match(status, /^Uid:\t1900000000\t/m);
    const { output } = await home.run(
      'root-writes',
      script('echo a >> /etc/passwd && touch /x && chown 5 /x && id -u', root),
    );
    assert.equal(output, '0\n');
  });

  test('is held to its memory and told so', async () => {
    const limits = { resources: { limits: { memory: '64Mi', cpu: '500m' } } };
    const { pod } = await home.run('memory', script('python3 -c "bytearray(300 << 20)"; exit $?', limits));
    assert.equal(terminatedOf(pod)?.exitCode, 137);
    assert.equal(terminatedOf(pod)?.reason, 'OOMKilled');
  });

  test('cannot write to a read-only root but to its volumes', async () => {
    const spec = script(
      "touch /tmp/x 2>/dev/null || echo closed; echo y > /data/x && cat /data/x; ls /tools | grep -x agent.ts; touch /tools/x 2>/dev/null || echo closed; df -k /fast | tail -1 | awk '{print $2}'",
      {
        securityContext: { readOnlyRootFilesystem: true },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'tools', mountPath: '/tools' },
          { name: 'fast', mountPath: '/fast' },
        ],
      },
      {
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'tools', image: { reference: 'test/tools' } },
          { name: 'fast', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        ],
      },
    );
    assert.equal((await home.run('volumes', spec)).output, 'closed\ny\nagent.ts\nclosed\n1024\n');
  });

  test('shares network and volumes between its containers', async () => {
    const client = `until python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8888/").read()' 2>/dev/null; do sleep 0.05; done; echo met; sleep 1000`;
    home.api.addPod('two', {
      containers: [server, aContainer({ name: 'other', command: ['sh', '-c', client] })],
    });
    await home.api.until('two', isReady);
    await home.says('two', 'met\n', 'other');
  });

  test('fails at once for an image that is not there', async () => {
    home.api.addPod('image', { containers: [aContainer({ image: 'docker.io/library/nginx' })] });
    const { status } = (await home.api.until('image', hasEnded)) ?? {};
    assert.equal(status?.reason, 'ErrImagePull');
    assert.match(status?.message ?? '', /nginx.*hutch\.internal\/host/);
  });

  test('fails at once for what it may not ask', async () => {
    home.api.addPod('bold', { hostNetwork: true, containers: [sleeper] });
    const { status } = (await home.api.until('bold', hasEnded)) ?? {};
    assert.equal(status?.reason, 'UnsupportedPod');
    await home.api.delete({} as never, { namespace: 'default', name: 'bold' });
    await home.api.until('bold', isGone);
  });

  test('says when its program does not exist', async () => {
    home.api.addPod('missing', {
      restartPolicy: 'Never',
      containers: [aContainer({ command: ['no-such-program'] })],
    });
    const pod = await home.api.until('missing', hasEnded);
    assert.ok(pod);
    assert.equal(terminatedOf(pod)?.reason, 'StartError');
    assert.match(terminatedOf(pod)?.message ?? '', /no-such-program.*not found/);
  });

  test('is restarted when its program ends, with a clean root and the earlier end beside it', async () => {
    const text = 'ls /tmp; touch /tmp/mark; test -e /data/mark && exec sleep 1000; touch /data/mark; exit 3';
    const mounts = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    home.api.addPod(
      'again',
      script(text, mounts, { restartPolicy: 'Always', volumes: [{ name: 'data', emptyDir: {} }] }),
    );
    const pod = await home.api.until(
      'again',
      (seen) => isReady(seen) && seen?.status?.containerStatuses?.[0]?.restartCount === 1,
    );
    assert.equal(pod?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 3);
    assert.equal(await home.output('again'), '');
  });

  test('is asked to end before it is made to', async () => {
    const text = 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done';
    home.api.addPod('polite', script(text, {}, { terminationGracePeriodSeconds: 10 }));
    const pod = await home.api.until('polite', isReady);
    await home.says('polite', 'up\n');
    const said = home.says('polite', 'up\nbye\n');
    await home.api.delete({} as never, { namespace: 'default', name: 'polite' });
    await said;
    await home.api.until('polite', isGone);
    assert.ok(!existsSync(home.netns(pod as Pod)));
  });
});

describe('an agent that comes back', () => {
  test('finds its containers running: same process, same address, still ready', async () => {
    await using home = await TestHome.open();
    const { metadata } = home.api.addPod('stays', { containers: [server] });
    const before = await home.api.until('stays', isReady);
    const pid = await home.pid(before as Pod);
    await home.stop();
    assert.equal((await fetch(`http://${before?.status?.podIP}:8888/`)).status, 200, 'it runs on without us');
    home.start();
    home.api.addPod('later', { containers: [server] });
    await home.api.until('later', isReady);
    const now = home.api.pod('stays');
    assert.deepEqual(now?.status, before?.status);
    assert.equal(await home.pid(now as Pod), pid);
    assert.notEqual(home.api.pod('later')?.status?.podIP, now?.status?.podIP);
    await home.api.delete({} as never, { namespace: 'default', name: 'stays' }, { gracePeriodSeconds: 1 });
    await home.api.until('stays', isGone);
    assert.ok(!existsSync(home.netns({ ...(before as Pod), metadata })));
  });

  test('learns how a container ended while it was away', async () => {
    await using home = await TestHome.open();
    home.api.addPod('ends', script('trap "exit 9" TERM; echo up; while :; do sleep 0.05; done'));
    const pod = (await home.api.until('ends', isReady)) as Pod;
    await home.says('ends', 'up\n');
    const pid = await home.pid(pod);
    await home.stop();
    process.kill(pid, 'SIGTERM');
    home.start();
    const ended = (await home.api.until('ends', hasEnded)) as Pod;
    assert.equal(terminatedOf(ended)?.exitCode, 9);
  });

  test('removes what the API no longer knows', async () => {
    await using home = await TestHome.open();
    const { metadata } = home.api.addPod('orphan', { containers: [sleeper] });
    const pod = (await home.api.until('orphan', isReady)) as Pod;
    const pid = await home.pid(pod);
    await home.stop();
    await home.api.delete(
      {} as never,
      { namespace: 'default', name: metadata.name },
      { gracePeriodSeconds: 0 },
    );
    home.start();
    home.api.addPod('next', { containers: [sleeper] });
    await home.api.until('next', isReady);
    await home.stop(); // waits for the removal that is under way
    assert.ok(!existsSync(`/proc/${pid}/ns`) || !(await readdir(`/proc/${pid}/task`).catch(() => [])).length);
    assert.ok(!existsSync(home.netns(pod)));
  });
});

describe('a home that is swept', () => {
  test('leaves no process, mount, link, rule, control group or file', async () => {
    await using home = await TestHome.open();
    home.api.addPod('a', { containers: [server] });
    home.api.addPod('b', { containers: [sleeper] });
    await Promise.all([home.api.until('a', isReady), home.api.until('b', isReady)]);
    const network = await home.network();
    assert.notDeepEqual(await tracesOf(home.dataDir, network), []);
    await home.stop();
    const report = await home.sweep();
    assert.deepEqual(report.failures, []);
    assert.ok(report.removed.includes('pod default/a'));
    assert.deepEqual(await tracesOf(home.dataDir, network), []);
    assert.ok(!existsSync(`${home.dataDir}/node`));
    assert.deepEqual((await home.sweep()).removed, [], 'sweeping again finds nothing');
  });

  test('loses links, processes and rules even if its ledger is gone', async () => {
    await using home = await TestHome.open();
    const { metadata } = home.api.addPod('a', { containers: [sleeper] });
    await home.api.until('a', isReady);
    const network = await home.network();
    await home.stop();
    await rm(`${home.dataDir}/node/pods/${metadata.uid}/pod.json`);
    await rm(`${home.dataDir}/node/pods/${metadata.uid}/containers`, { recursive: true });
    const { removed } = await home.sweep();
    assert.ok(removed.some((what) => what.startsWith('control group')));
    const left = (await tracesOf(home.dataDir, network)).filter((trace) => !trace.includes('conmon'));
    assert.deepEqual(left, []);
  });

  test('ten homes at once do not meet', async () => {
    const homes = await Promise.all(Array.from({ length: 10 }, () => TestHome.open()));
    try {
      const ready = homes.map(async (home) => {
        home.api.addPod('a', { containers: [sleeper] });
        return await home.api.until('a', isReady);
      });
      const addresses = (await Promise.all(ready)).map((pod) => pod?.status?.podIP);
      assert.equal(new Set(addresses).size, 10);
    } finally {
      await Promise.all(homes.map((home) => home[Symbol.asyncDispose]()));
    }
  });
});
