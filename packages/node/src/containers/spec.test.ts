import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '@hutch/kube-meta';
import { aContainer, anImage, aPod } from '../test-objects.ts';
import { ungrantable } from './capabilities.ts';
import { defaultLimits, desiredResources } from './resources.ts';
import { defaultSeccomp } from './seccomp.ts';
import { desiredSpec, desiredUser, hostnameOf } from './spec.ts';

const idMapping = { containerID: 0, hostID: 1_900_000_000, size: 65_536 };

function specOf(container: Partial<Container> = {}, pod: Partial<PodSpec> = {}) {
  return desiredSpec({
    pod: aPod(pod),
    container: aContainer(container),
    image: anImage(),
    id: 'hutch1-uid-1-main-0',
    rootPath: '/mnt',
    netns: '/home/node/pods/uid-1/netns',
    volumeMounts: [],
    env: ['A=b'],
    args: ['true'],
    limits: defaultLimits,
    idMapping,
    hooks: undefined,
  });
}

test('a container has every namespace of its own and joins the network of its pod', () => {
  const { namespaces, uidMappings, cgroupsPath } = specOf().linux;
  assert.deepEqual(namespaces.map(({ type }) => type).sort(), [
    'cgroup',
    'ipc',
    'mount',
    'network',
    'pid',
    'user',
    'uts',
  ]);
  assert.deepEqual(
    namespaces.filter(({ path }) => path),
    [{ type: 'network', path: '/home/node/pods/uid-1/netns' }],
  );
  assert.deepEqual(uidMappings, [idMapping]);
  assert.equal(cgroupsPath, '/hutch1-uid-1-main-0');
});

test('a plain user holds no capability and can gain none', () => {
  const { capabilities, noNewPrivileges } = specOf().process;
  assert.deepEqual(capabilities.effective, []);
  assert.deepEqual(capabilities.permitted, []);
  assert.equal(noNewPrivileges, true);
  assert.ok(!capabilities.bounding.includes('CAP_NET_RAW'));
  assert.ok(!capabilities.bounding.includes('CAP_SYS_ADMIN'));
});

test('root inside holds the bounding set, less what is dropped', () => {
  const root = { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } };
  const { capabilities } = specOf({ securityContext: root }).process;
  assert.deepEqual(capabilities.bounding, ['CAP_NET_BIND_SERVICE']);
  assert.deepEqual(capabilities.effective, ['CAP_NET_BIND_SERVICE']);
});

test('capabilities beyond the usual set are named', () => {
  assert.deepEqual(ungrantable({ add: ['CAP_SYS_ADMIN', 'kill', 'ALL'] }), ['SYS_ADMIN', 'ALL']);
});

test('dangerous kernel files are hidden or read-only', () => {
  const { maskedPaths, readonlyPaths } = specOf().linux;
  for (const path of ['/proc/kcore', '/proc/keys', '/sys/firmware'])
    assert.ok(maskedPaths.includes(path), path);
  for (const path of ['/proc/sys', '/proc/sysrq-trigger']) assert.ok(readonlyPaths.includes(path), path);
});

const users: {
  name: string;
  container?: Container['securityContext'];
  pod?: PodSpec['securityContext'];
  want: unknown;
}[] = [
  { name: 'the image decides', want: { uid: 1000, gid: 1000, additionalGids: [] } },
  {
    name: 'the pod overrides the image',
    pod: { runAsUser: 7 },
    want: { uid: 7, gid: 0, additionalGids: [] },
  },
  {
    name: 'the container overrides the pod',
    pod: { runAsUser: 7, runAsGroup: 8 },
    container: { runAsUser: 9 },
    want: { uid: 9, gid: 8, additionalGids: [] },
  },
  {
    name: 'the volumes group is one of its groups',
    pod: { fsGroup: 50, supplementalGroups: [60] },
    want: { uid: 1000, gid: 1000, additionalGids: [60, 50] },
  },
];

for (const { name, container, pod, want } of users) {
  test(`who a container runs as: ${name}`, () => {
    const spec = pod ? { securityContext: pod } : {};
    assert.deepEqual(
      desiredUser(aPod(spec), aContainer(container ? { securityContext: container } : {}), anImage()),
      want,
    );
  });
}

test('limits become control group settings without swap', () => {
  const resources = { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '250m' } };
  const { memory, cpu, pids } = desiredResources(aContainer({ resources }), defaultLimits);
  assert.deepEqual(memory, { limit: 67_108_864, swap: 67_108_864 });
  assert.deepEqual(cpu, { shares: 256, quota: 50_000, period: 100_000 });
  assert.deepEqual(pids, { limit: 1024 });
});

test('without limits only the number of processes is held down', () => {
  const { memory, cpu, pids } = desiredResources(aContainer(), defaultLimits);
  assert.deepEqual([memory, cpu, pids], [undefined, undefined, { limit: 1024 }]);
});

test('the first device rule denies everything', () => {
  assert.deepEqual(specOf().linux.resources.devices[0], { allow: false, access: 'rwm' });
});

test('a host name fits and does not end in a dash', () => {
  assert.equal(hostnameOf(aPod({}, { name: `${'a'.repeat(62)}-b` })), 'a'.repeat(62));
  assert.equal(hostnameOf(aPod({ hostname: 'given' })), 'given');
});

const seccomp = defaultSeccomp('x64');
const unconditional = new Set(
  seccomp.syscalls
    .filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && !args)
    .flatMap(({ names }) => names),
);

for (const name of [
  'add_key bpf delete_module finit_module fsopen init_module io_uring_setup kexec_load keyctl mount move_mount',
  'open_by_handle_at perf_event_open pivot_root quotactl reboot request_key setns settimeofday swapon syslog',
  'umount2 unshare userfaultfd clone clone3 personality socket',
].flatMap((line) => line.split(' '))) {
  test(`the system call ${name} is not simply allowed`, () => assert.ok(!unconditional.has(name)));
}

test('what every program needs is allowed, each name once', () => {
  for (const name of ['read', 'openat', 'execve', 'futex', 'mmap', 'epoll_wait', 'ptrace'])
    assert.ok(unconditional.has(name), name);
  const all = seccomp.syscalls[0]?.names ?? [];
  assert.equal(new Set(all).size, all.length);
  assert.ok(!all.includes(''));
});

test('clone may not make namespaces and clone3 does not exist', () => {
  const clone = seccomp.syscalls.find(({ names }) => names.includes('clone'));
  assert.deepEqual(clone?.args, [{ index: 0, value: 0x7e020000, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }]);
  assert.equal(seccomp.syscalls.find(({ names }) => names.includes('clone3'))?.errnoRet, 38);
});
