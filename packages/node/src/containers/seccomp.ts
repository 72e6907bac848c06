/**
 * The system calls a container may make. Everything not named here fails with EPERM.
 *
 * Left out on purpose: new namespaces in any form (unshare, setns, clone with CLONE_NEW*), the mount family, bpf,
 * perf_event_open, userfaultfd, io_uring (its operations bypass this filter), kernel keyrings, modules, kexec,
 * clocks, swap, quotas, raw port I/O, open_by_handle_at, and 32-bit entry points altogether.
 * ptrace and process_vm_* are allowed: since Linux 4.8 a tracer cannot step around the filter.
 */
import { arch } from 'node:process';
import type { OciSeccomp, OciSeccompRule } from './oci.ts';

const eperm = 1;
const enosys = 38;

const files = `access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
  fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock
  fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr getxattrat
  lchown lgetxattr link linkat listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat
  mknod mknodat name_to_handle_at newfstatat open openat openat2 pread64 preadv preadv2 pwrite64 pwritev pwritev2
  read readahead readlink readlinkat readv removexattr removexattrat rename renameat renameat2 rmdir sendfile
  setxattr setxattrat splice stat statfs statx symlink symlinkat sync sync_file_range syncfs tee truncate umask
  unlink unlinkat utime utimensat utimes vmsplice write writev chroot`;

const waiting = `epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old
  eventfd eventfd2 fanotify_mark inotify_add_watch inotify_init inotify_init1 inotify_rm_watch poll ppoll pselect6
  select signalfd signalfd4 timerfd_create timerfd_gettime timerfd_settime io_cancel io_destroy io_getevents
  io_pgetevents io_setup io_submit`;

const memory = `brk cachestat get_mempolicy madvise map_shadow_stack mbind membarrier memfd_create memfd_secret
  mincore mlock mlock2 mlockall mmap mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free
  pkey_mprotect process_madvise process_mrelease remap_file_pages set_mempolicy set_mempolicy_home_node`;

const processes = `alarm arch_prctl capget capset execve execveat exit exit_group fork vfork futex futex_requeue futex_wait
  futex_waitv futex_wake get_robust_list get_thread_area getcpu getegid geteuid getgid getgroups getitimer getpgid
  getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid ioprio_get
  ioprio_set kcmp kill landlock_add_rule landlock_create_ruleset landlock_restrict_self pause pidfd_getfd pidfd_open
  pidfd_send_signal prctl prlimit64 process_vm_readv process_vm_writev ptrace restart_syscall rseq rt_sigaction
  rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo
  sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
  sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp
  set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority
  setregid setresgid setresuid setreuid setrlimit setsid setuid sigaltstack tgkill time times tkill uname wait4
  waitid sysinfo getrandom ioctl`;

const clocks = `clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep timer_create timer_delete timer_getoverrun
  timer_gettime timer_settime adjtimex clock_adjtime`;

const sockets = `accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg
  sendmsg sendto setsockopt shutdown socketpair pipe pipe2`;

const ipc = `mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl
  semget semop semtimedop shmat shmctl shmdt shmget`;

/** Unix, IPv4, IPv6, netlink. Not vsock (it talks to the hypervisor), not the kernel's crypto or packet sockets. */
const socketFamilies = [1, 2, 10, 16];

/** Linux, the same without address randomisation (debuggers), and asking for the current value. */
const personalities = [0x0, 0x0008, 0x20000, 0x20008, 0x40000, 0xffffffff];

/** CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET. */
const newNamespaceFlags = 0x7e020000;

const architectures: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'SCMP_ARCH_X86_64',
  arm64: 'SCMP_ARCH_AARCH64',
};

const allow = (names: readonly string[], rest: Partial<OciSeccompRule> = {}): OciSeccompRule => ({
  names,
  action: 'SCMP_ACT_ALLOW',
  ...rest,
});

export function defaultSeccomp(machine: NodeJS.Architecture = arch): OciSeccomp {
  const architecture = architectures[machine];
  const named = [files, waiting, memory, processes, clocks, sockets, ipc].flatMap((group) =>
    group.split(/\s+/),
  );
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: eperm,
    architectures: architecture === undefined ? [] : [architecture],
    syscalls: [
      allow([...new Set(named)].sort()),
      ...socketFamilies.map((value) => allow(['socket'], { args: [{ index: 0, value, op: 'SCMP_CMP_EQ' }] })),
      ...personalities.map((value) =>
        allow(['personality'], { args: [{ index: 0, value, op: 'SCMP_CMP_EQ' }] }),
      ),
      allow(['clone'], {
        args: [{ index: 0, value: newNamespaceFlags, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
      }),
      // Its flags are behind a pointer and cannot be checked; told it does not exist, the C library uses clone.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: enosys },
    ],
  };
}
