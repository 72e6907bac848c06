#!/bin/sh
# Makes sure of the programs that containers and their networks are made with; with arguments, installs the
# libraries they name instead. As root it installs what is missing, on systems with apt, dnf or apk; otherwise
# it prints the command to run. Exits 0 only when everything is there. Writes to stderr alone.
set -u

# An ordinary login does not look where Debian keeps them.
case :$PATH: in
  *:/usr/sbin:*) ;;
  *:/usr/bin:*) export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" ;;
esac
exec </dev/null >&2

say() { printf 'hutch: %s\n' "$1"; }

missing_programs() {
  for program in runc conmon nft ip; do
    command -v "$program" >/dev/null || set -- "$@" "$program"
  done
  echo "$*"
}

# The package that holds a program or library, by package manager.
package_of() {
  case $1:$2 in
    *:nft) echo nftables ;;
    dnf:ip) echo iproute ;;
    *:ip) echo iproute2 ;;
    apt-get:libatomic) echo libatomic1 ;;
    *) echo "$2" ;;
  esac
}

find_manager() {
  for manager in apt-get dnf apk; do
    command -v "$manager" >/dev/null && return
  done
  manager=
}

install_with() {
  case $manager in
    apt-get) DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" ;;
    dnf) dnf install -y --setopt=install_weak_deps=False "$@" ;;
    apk) apk add --no-cache "$@" ;;
  esac
}

# Package lists may be absent, as in a fresh image, or older than the mirror: then they are fetched.
install_packages() {
  install_with "$@" && return
  [ "$manager" = apt-get ] && apt-get update && install_with "$@"
}

missing=${*:-$(missing_programs)}
[ "$missing" ] || exit 0

find_manager
packages=
for part in $missing; do
  packages="$packages $(package_of "${manager:-none}" "$part")"
done
packages=${packages# }

if [ -z "$manager" ]; then
  say "missing: $missing; install the packages that hold them with this system's package manager ($packages)"
  exit 1
fi
case $manager in
  apt-get) by_hand="apt-get update && apt-get install -y $packages" ;;
  dnf) by_hand="dnf install -y $packages" ;;
  apk) by_hand="apk add $packages" ;;
esac
if [ "$(id -u)" -ne 0 ]; then
  say "missing: $missing; install them as root: $by_hand"
  exit 1
fi

say "installing system parts: $packages"
log=$(mktemp) || exit 1
# shellcheck disable=SC2086 # a list of names
if [ -t 2 ]; then install_packages $packages; else install_packages $packages >"$log" 2>&1; fi
status=$?
[ "$status" -eq 0 ] || cat "$log"
rm -f "$log"
if [ $# -eq 0 ] && [ "$(missing_programs)" ]; then status=1; fi
[ "$status" -eq 0 ] || say "could not install them; try by hand: $by_hand"
exit "$status"
