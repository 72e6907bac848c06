import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { silentLog, systemClock } from '@hutch/base';
import { FakeApi } from './src/fake-api.ts';
import { createNodeAgent, sweepHome } from './src/index.ts';

const dir = mkdtempSync('/tmp/hutchnode-');
const api = new FakeApi();
const agent = createNodeAgent({
  client: api,
  nodeName: 'node',
  dataDir: `${dir}/home`,
  imageDir: `${dir}/img`,
  images: { 'hutch.internal/host': { type: 'host' } },
  clock: systemClock,
  log: silentLog,
});
const stop = new AbortController();
const running = agent.run(stop.signal);
running.catch((e) => console.error(e));
const rows: Record<string, number[]> = {};
const add = (k: string, v: number) => (rows[k] ??= []).push(v);
const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]?.toFixed(1);
for (let i = 0; i < 25; i++) {
  const name = `p${i}`;
  const pod = api.addPod(name, {
    containers: [{ name: 'main', image: 'hutch.internal/host', command: ['sleep', '1000'] }],
  });
  await api.until(name, (p) => p?.status?.phase === 'Running');
  const t = agent.timings(pod.metadata.uid) as Record<string, number>;
  if (i > 0) {
    add('prepared', t.prepared!);
    add('created', t.created! - t.prepared!);
    add('started', t.started! - t.created!);
    add('total', t.started!);
  }
  const bundle = `${dir}/home/node/pods/${pod.metadata.uid}/containers/main/0`;
  // plain runc run of the same bundle, mounted the same way
  const b = `${dir}/plain`;
  rmSync(b, { recursive: true, force: true });
  mkdirSync(`${b}/upper`, { recursive: true });
  mkdirSync(`${b}/work`);
  execFileSync('chown', ['1900000000:1900000000', `${b}/upper`]);
  const cfg = JSON.parse(readFileSync(`${bundle}/config.json`, 'utf8'));
  cfg.process.args = ['true'];
  cfg.linux.cgroupsPath = `/plain-${process.pid}`;
  writeFileSync(`${b}/config.json`, JSON.stringify(cfg));
  execFileSync('ln', [
    '-s',
    execFileSync('readlink', [`${bundle}/lower`])
      .toString()
      .trim(),
    `${b}/lower`,
  ]);
  const out = execFileSync('unshare', [
    '-m',
    '--propagation',
    'slave',
    'sh',
    '-c',
    `cd ${b}; mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay /mnt; nsenter --net=${cfg.linux.namespaces.find((n: any) => n.type === 'network').path} mount -t sysfs -o ro sysfs /mnt/sys; s=$(date +%s%N); runc --root ${dir}/r run plain; e=$(date +%s%N); echo $((e-s))`,
  ]).toString();
  if (i > 0) add('runc run', Number(out.trim()) / 1e6);
  await api.delete(undefined as never, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
  await new Promise((r) => setTimeout(r, 250));
}
for (const [k, v] of Object.entries(rows))
  console.log(
    k.padEnd(10),
    'p50',
    med(v),
    'min',
    Math.min(...v).toFixed(1),
    'max',
    Math.max(...v).toFixed(1),
  );
await new Promise((r) => setTimeout(r, 500));
stop.abort();
await running;
console.log(await sweepHome({ dataDir: `${dir}/home`, log: silentLog }));
rmSync(dir, { recursive: true, force: true });
