/** The agent with real containers: what a pod is promised, and what is left when it is over. Needs root. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '@hutch/kube-meta';
import { requireTools, runCommand } from './command.ts';
import { cgroupsBeginning } from './containers/cgroups.ts';
import { homeLayout, podLayout } from './home.ts';
import { podNetworkPlan } from './network/plan.ts';
import { openPodNetwork } from './network/pod-network.ts';
import { writeLedger } from './pods/ledger.ts';
import { hasEnded, isGone, isReady, openLog, script, TestHome, tracesOf } from './test-home.ts';
import { aContainer } from './test-objects.ts';

const server = aContainer({
  command: ['python3', '-m', 'http.server', '8888'],
  readinessProbe: { httpGet: { port: 8888, path: '/' } },
});
const sleeper = aContainer({ command: ['sleep', '1000'] });
const restartsOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0]?.restartCount;
const isAlive = (pid: number) => existsSync(`/proc/${pid}/exe`);

/** Returns the id of the container that nothing watches over now. */
async function killConmon(home: TestHome, pod: Pod): Promise<string> {
  const pid = Number(await readFile(`${home.directory(pod)}/containers/main/0/conmon.pid`, 'utf8'));
  process.kill(pid, 'SIGKILL');
  while (isAlive(pid)) await new Promise(setImmediate); // not our child, so nobody tells us
  return `${(await home.names()).containerPrefix}${pod.metadata.uid}-main-0`;
}

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

  test('is removed however deep it nests its directories', async () => {
    const text = `python3 -c "
import os
for top, name, levels in ('/workspace', 'd' * 200, 1500), ('/data', 'd', 3000):
    os.chdir(top)
    os.symlink('/', 'root')
    for _ in range(levels): os.mkdir(name); os.chdir(name)
print('made')"`;
    const mounts = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    const { output, pod } = await home.run(
      'deep',
      script(text, mounts, { volumes: [{ name: 'data', emptyDir: {} }] }),
    );
    assert.equal(output, 'made\n');
    await home.api.delete({} as never, { namespace: 'default', name: 'deep' });
    await home.api.until('deep', isGone);
    assert.ok(!existsSync(`${home.directory(pod)}/containers/main/0/upper`));
    assert.ok(!existsSync(`${home.directory(pod)}/volumes`));
  });

  test('cannot use up what the kernel counts for the root of the machine', async () => {
    const text = `python3 -c "
import ctypes
libc = ctypes.CDLL(None)
n = 0
while n < 1000 and libc.inotify_init1(0) >= 0: n += 1
print(n)"; cat /proc/sys/user/max_user_namespaces /proc/sys/user/max_inotify_watches`;
    const ofMachine = async (name: string) => Number(await readFile(`/proc/sys/user/${name}`, 'utf8'));
    const before = await ofMachine('max_inotify_instances');
    const { output } = await home.run('greedy', script(text));
    const [instances, namespaces, watches] = output.trim().split('\n').map(Number);
    assert.equal(instances, Math.max(16, Math.floor(before / 4)));
    assert.equal(namespaces, 0);
    assert.ok(Number(watches) < (await ofMachine('max_inotify_watches')));
    assert.equal(await ofMachine('max_inotify_instances'), before, 'the machine keeps its own');
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

  test('finds out that what was ready when it left does not answer any more', async () => {
    await using home = await TestHome.open();
    const text = 'python3 -m http.server 8888 2>/dev/null & wait; exec sleep 1000';
    const readinessProbe = { tcpSocket: { port: 8888 }, periodSeconds: 1, failureThreshold: 1 };
    home.api.addPod('mute', script(text, { readinessProbe }));
    const pid = await home.pid((await home.api.until('mute', isReady)) as Pod);
    await home.stop();
    const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
    process.kill(Number(child), 'SIGKILL');
    home.start();
    const pod = await home.api.until('mute', (seen) => !isReady(seen));
    assert.equal(pod?.status?.phase, 'Running');
    assert.equal(await home.pid(pod as Pod), pid);
  });

  test('takes a pod up again after it failed to, as it is', async () => {
    const { log, hears } = openLog();
    await using home = await TestHome.open(log);
    home.api.addPod('hard', { containers: [server] });
    const before = (await home.api.until('hard', isReady)) as Pod;
    const pid = await home.pid(before);
    await home.stop();
    const containers = `${home.directory(before)}/containers`;
    await rename(containers, `${containers}.away`);
    await symlink(containers, containers); // cannot be read, and not for being absent
    const failed = hears('pod worker failed');
    const adopted = hears('container adopted');
    home.start();
    await failed;
    await rm(containers);
    await rename(`${containers}.away`, containers);
    await adopted;
    home.api.addPod('later', { containers: [server] });
    await home.api.until('later', isReady);
    assert.deepEqual(home.api.pod('hard')?.status, before.status);
    assert.equal(await home.pid(before), pid);
    assert.notEqual(home.api.pod('later')?.status?.podIP, before.status?.podIP);
  });

  test('starts after a loss of power that emptied its files', async () => {
    await using home = await TestHome.open();
    const { pod } = await home.run('over', script('exit 7'));
    const { table } = await home.network();
    await home.stop();
    await runCommand(requireTools().nft, ['delete', 'table', 'inet', table]);
    const layout = homeLayout(home.dataDir);
    const attempt = `${home.directory(pod)}/containers/main/0`;
    for (const path of [
      layout.homeFile,
      `${home.directory(pod)}/pod.json`,
      `${attempt}/exit.json`,
      `${attempt}/started`,
    ]) {
      await truncate(path);
    }
    home.start();
    home.api.addPod('next', { containers: [sleeper] });
    await home.api.until('next', isReady);
    assert.deepEqual(home.api.pod('over')?.status, pod.status, 'what was reported stays');
    await home.api.delete({} as never, { namespace: 'default', name: 'over' });
    await home.api.until('over', isGone);
    await home.stop(); // what is under way is seen through
    assert.ok(!existsSync(home.directory(pod)));
  });

  test('sets up anew a network that was left half made', async () => {
    await using home = await TestHome.open();
    await home.run('first', script('exit 0')); // the home has its names now
    await home.stop();
    const pod = home.api.addPod('half', { containers: [server] });
    const network = await home.network();
    const plan = podNetworkPlan(network, 99);
    const layout = podLayout(homeLayout(home.dataDir), pod.metadata.uid);
    writeLedger(layout, { uid: pod.metadata.uid, namespace: 'default', name: 'half', slot: plan.slot });
    const signal = AbortSignal.timeout(10_000);
    await openPodNetwork(plan, layout.netns, { home: network, tools: requireTools(), signal });
    home.start();
    const ready = await home.api.until('half', isReady);
    assert.equal((await fetch(`http://${ready?.status?.podIP}:8888/`)).status, 200);
    assert.ok(!existsSync(`/sys/class/net/${plan.link}`) || ready?.status?.podIP === plan.ip);
  });

  test('mends the host’s end of a link', async () => {
    const { log, hears } = openLog();
    await using home = await TestHome.open(log);
    home.api.addPod('cut', { containers: [server] });
    const pod = (await home.api.until('cut', isReady)) as Pod;
    const { podIP = '' } = pod.status ?? {};
    await home.stop();
    const { link } = podNetworkPlan(await home.network(), Number(podIP.split('.').at(-1)));
    await runCommand(requireTools().ip, ['link', 'set', link, 'down']); // its route goes with that
    const adopted = hears('container adopted');
    home.start();
    await adopted;
    assert.match(await runCommand(requireTools().ip, ['route', 'get', podIP]), new RegExp(` dev ${link} `));
    assert.equal((await fetch(`http://${podIP}:8888/`)).status, 200);
  });

  test('ends what nobody watched over any more before it starts it again', async () => {
    await using home = await TestHome.open();
    home.api.addPod('lost', { restartPolicy: 'Always', containers: [server] });
    const pod = (await home.api.until('lost', isReady)) as Pod;
    const pid = await home.pid(pod);
    await home.stop();
    await killConmon(home, pod);
    home.start();
    const again = await home.api.until('lost', (seen) => isReady(seen) && restartsOf(seen) === 1);
    assert.notEqual(await home.pid(again as Pod, 'main', 1), pid);
    assert.ok(!isAlive(pid), 'the earlier one is gone');
    await home.api.delete({} as never, { namespace: 'default', name: 'lost' }, { gracePeriodSeconds: 1 });
    await home.api.until('lost', isGone);
    await home.stop(); // what is under way is seen through
    const { containerPrefix } = await home.names();
    assert.deepEqual(await cgroupsBeginning(containerPrefix), []);
  });

  test('leaves nothing alive of a pod that ended unwatched', async () => {
    await using home = await TestHome.open();
    home.api.addPod('lost', { restartPolicy: 'Never', containers: [server] });
    const pod = (await home.api.until('lost', isReady)) as Pod;
    const pid = await home.pid(pod);
    await home.stop();
    await killConmon(home, pod);
    home.start();
    const ended = (await home.api.until('lost', hasEnded)) as Pod;
    assert.equal(terminatedOf(ended)?.reason, 'ContainerStatusUnknown');
    assert.ok(!isAlive(pid));
  });

  test('removes a container of which the runtime’s own record is damaged', async () => {
    await using home = await TestHome.open();
    home.api.addPod('damaged', { containers: [sleeper] });
    const pod = (await home.api.until('damaged', isReady)) as Pod;
    await home.stop();
    const { runtimeState } = homeLayout(home.dataDir);
    const [id = ''] = await readdir(runtimeState);
    await truncate(`${runtimeState}/${id}/state.json`);
    home.start();
    await home.api.delete({} as never, { namespace: 'default', name: 'damaged' }, { gracePeriodSeconds: 1 });
    await home.api.until('damaged', isGone);
    assert.deepEqual(await readdir(runtimeState), []);
    assert.ok(!existsSync(home.netns(pod)));
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

describe('a container whose conmon is killed', () => {
  test('is ended before it is started again', async () => {
    await using home = await TestHome.open();
    home.api.addPod('unwatched', { restartPolicy: 'Always', containers: [server] });
    const pod = (await home.api.until('unwatched', isReady)) as Pod;
    const pid = await home.pid(pod);
    const id = await killConmon(home, pod);
    await writeFile(`${homeLayout(home.dataDir).exits}/${id}`, ''); // or else it is noticed a while later
    await home.api.until('unwatched', (seen) => isReady(seen) && restartsOf(seen) === 1);
    assert.ok(!isAlive(pid), 'the earlier one is gone');
  });
});

describe('a pod that cannot be ended', () => {
  test('keeps its files and its place in the ledger until it can', async () => {
    const { log, hears } = openLog();
    await using home = await TestHome.open(log);
    const volumes = [{ name: 'data', emptyDir: {} }];
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    home.api.addPod('stuck', { volumes, containers: [{ ...sleeper, volumeMounts }] });
    const pod = (await home.api.until('stuck', isReady)) as Pod;
    const { containerPrefix } = await home.names();
    const [group = ''] = await cgroupsBeginning(`${containerPrefix}${pod.metadata.uid}`);
    const { mount, umount } = requireTools();
    await runCommand(mount, ['--bind', group, group]); // a mount point cannot be removed
    try {
      const failed = hears('pod step failed');
      await home.api.delete({} as never, { namespace: 'default', name: 'stuck' }, { gracePeriodSeconds: 1 });
      await failed;
      const directory = home.directory(pod);
      for (const path of ['pod.json', 'volumes/data', 'containers/main/0/upper']) {
        assert.ok(existsSync(`${directory}/${path}`), path);
      }
      assert.ok(home.api.pod('stuck'), 'the object is not released');
    } finally {
      await runCommand(umount, [group]);
    }
    await home.api.until('stuck', isGone);
    await home.stop(); // what is under way is seen through
    assert.ok(!existsSync(home.directory(pod)));
  });
});

describe('a home that is swept', () => {
  test('leaves alone what another home has under its index by now', async () => {
    const { nft } = requireTools();
    await using dead = await TestHome.open();
    await using living = await TestHome.open();
    const { pod: old } = await dead.run('old', script('exit 0'));
    await living.run('any', script('exit 0'));
    const network = await dead.network();
    const record = homeLayout(dead.dataDir).homeFile;
    await Promise.all([dead.stop(), living.stop()]);
    // as after a reboot: no tables, and the other home was the first to take the index
    for (const { table } of [network, await living.network()]) {
      await runCommand(nft, ['delete', 'table', 'inet', table]);
    }
    await writeFile(homeLayout(living.dataDir).homeFile, await readFile(record));
    living.start();
    living.api.addPod('alive', { containers: [server] });
    const alive = (await living.api.until('alive', isReady)) as Pod;
    const slot = Number(alive.status?.podIP?.split('.').at(-1));
    const entry = { uid: old.metadata.uid, namespace: 'default', name: 'old', slot };
    await writeFile(`${dead.directory(old)}/pod.json`, JSON.stringify(entry));

    const { removed, failures } = await dead.sweep();
    assert.deepEqual({ removed, failures }, { removed: ['pod default/old'], failures: [] });
    assert.ok(!existsSync(`${dead.dataDir}/node`));
    assert.equal((await living.network()).index, network.index);
    assert.equal((await fetch(`http://${alive.status?.podIP}:8888/`)).status, 200);
    assert.match(await runCommand(nft, ['list', 'tables']), new RegExp(`inet ${network.table}$`, 'm'));
  });

  test('leaves alone a home that has the same index in another network namespace', async () => {
    const { unshare } = requireTools();
    await using dead = await TestHome.open();
    await using living = await TestHome.open();
    await dead.run('old', script('exit 0'));
    living.api.addPod('alive', { containers: [server] });
    const alive = (await living.api.until('alive', isReady)) as Pod;
    await dead.stop();
    await dead.sweep();
    const { root, homeFile } = homeLayout(dead.dataDir);
    await mkdir(root, { recursive: true });
    const { index, prefix } = await living.network();
    await writeFile(homeFile, JSON.stringify({ index, prefix, key: 'other' }));
    const program = `
      import { sweepHome } from ${JSON.stringify(import.meta.resolve('./sweep.ts'))};
      import { silentLog } from '@hutch/base';
      const { failures } = await sweepHome({ dataDir: process.argv[1], log: silentLog });
      if (failures.length > 0) throw new Error(failures.join());`;
    const node = [process.execPath, '--input-type=module', '-e', program, dead.dataDir];
    await runCommand(unshare, ['--net', '--wd', import.meta.dirname, ...node]);
    assert.ok(!existsSync(root), 'it was swept');
    assert.equal((await fetch(`http://${alive.status?.podIP}:8888/`)).status, 200);
  });

  test('says of its rules that they were removed only if there were any', async () => {
    await using home = await TestHome.open();
    await home.run('a', script('exit 0'));
    const { table } = await home.network();
    await home.stop();
    await runCommand(requireTools().nft, ['delete', 'table', 'inet', table]);
    const { removed, failures } = await home.sweep();
    assert.deepEqual({ removed, failures }, { removed: ['pod default/a'], failures: [] });
    assert.doesNotMatch(
      await runCommand(requireTools().nft, ['list', 'tables']),
      new RegExp(`${table}$`, 'm'),
    );
  });

  test('leaves no process, mount, link, rule, control group or file', async () => {
    await using home = await TestHome.open();
    home.api.addPod('a', { containers: [server] });
    home.api.addPod('b', { containers: [sleeper] });
    await Promise.all([home.api.until('a', isReady), home.api.until('b', isReady)]);
    const names = await home.names();
    assert.notDeepEqual(await tracesOf(home.dataDir, names), []);
    await home.stop();
    const report = await home.sweep();
    assert.deepEqual(report.failures, []);
    assert.ok(report.removed.includes('pod default/a'));
    assert.deepEqual(await tracesOf(home.dataDir, names), []);
    assert.ok(!existsSync(`${home.dataDir}/node`));
    assert.deepEqual((await home.sweep()).removed, [], 'sweeping again finds nothing');
  });

  test('loses links, processes and rules even if its ledger is gone', async () => {
    await using home = await TestHome.open();
    const { metadata } = home.api.addPod('a', { containers: [sleeper] });
    await home.api.until('a', isReady);
    const names = await home.names();
    await home.stop();
    await rm(`${home.dataDir}/node/pods/${metadata.uid}/pod.json`);
    await rm(`${home.dataDir}/node/pods/${metadata.uid}/containers`, { recursive: true });
    const { removed } = await home.sweep();
    assert.ok(removed.some((what) => what.startsWith('control group')));
    const left = (await tracesOf(home.dataDir, names)).filter((trace) => !trace.includes('conmon'));
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
