# shellcheck shell=sh
# shellcheck disable=SC2154 # the launcher sets root, node, modules, stamp and lock
# Sourced by the launcher when something must be installed or built first; uses its functions and variables.
# Two first uses at once must not tread on each other: the second waits for the first, then looks again.

install_and_build() {
  [ -w "$root" ] || fail "cannot write to $root: run hutch once as its owner, to install and build it"
  take_lock
  is_installed || install_dependencies
  is_built || { start_node && build; }
  release_lock
}

# When it cannot, it says why and how to; the command then says what it misses.
install_system_parts() {
  [ -w "$root" ] && take_lock
  sh "$root/tools/launch/system-parts.sh"
  [ -w "$root" ] && release_lock
}

install_dependencies() {
  installed=$root/node_modules/.hutch-package-lock.json
  reason='first use'
  if [ -f "$modules" ]; then
    reason='package-lock.json has changed'
    # Git may rewrite the file without changing it, when a branch is left and entered again.
    if find_node && cmp -s "$root/package-lock.json" "$installed"; then
      touch "$modules"
      return
    fi
  fi
  have_bootstrap_node
  rm -f "$stamp" # what was built with other dependencies must be built again
  # All groups by name: NODE_ENV=production would leave out the build tools. Errors only: under the bootstrap
  # Node npm warns of every package that asks for a newer one, which is what it will run with.
  run_step "installing dependencies ($reason)…" \
    npm --prefix "$root" ci --include=dev --include=optional --no-audit --no-fund --loglevel=error
  is_installed || fail "npm ci left no Node.js for $(uname -sm) in $root/node_modules: set HUTCH_NODE to one of version 26"
  cp "$root/package-lock.json" "$installed"
}

build() {
  started=$(mktemp) || fail "cannot write to ${TMPDIR:-/tmp}"
  run_step 'building…' "$node" "$root/tools/build/main.ts"
  [ -f "$root/dist/hutch/main.js" ] || fail 'the build left no dist/hutch/main.js'
  # Not the time of its end: a source saved while the build ran is newer than what was built.
  touch -r "$started" "$stamp" || fail "cannot write $stamp"
}

have_bootstrap_node() {
  version=$(node --version 2>/dev/null) || version=
  major=${version#v}
  major=${major%%.*}
  case $major in
    '') fail 'needs Node.js 20 or newer with npm for its first use, and found none: install it (https://nodejs.org/en/download) and try again' ;;
    *[!0-9]*) fail "cannot read the version of $(command -v node): $version" ;;
  esac
  [ "$major" -ge 20 ] || fail "needs Node.js 20 or newer for its first use, and found $version ($(command -v node)): install a newer one (https://nodejs.org/en/download) and try again"
  command -v npm >/dev/null || fail "needs npm for its first use, and found only Node.js $version: install npm and try again"
}

# The pinned Node is linked against libatomic, which small Debian images leave out.
start_node() {
  complaint=$("$node" --version 2>&1 >/dev/null </dev/null) && return
  case $complaint in
    *libatomic*) sh "$root/tools/launch/system-parts.sh" libatomic && return ;;
  esac
  fail "the pinned Node.js does not start here (it needs glibc 2.28 or newer): $complaint"
}

# Runs a slow step. A person at a terminal sees it at work; a log sees one line, and all of it when it fails.
# In the background, so that a signal to the launcher alone ends the step too.
run_step() {
  say "$1"
  shift
  if [ -t 2 ]; then
    "$@" </dev/null >&2 &
  else
    "$@" </dev/null >"$log" 2>&1 &
  fi
  step=$!
  wait "$step"
  status=$?
  step=
  [ "$status" -eq 0 ] && return
  [ -t 2 ] || cat "$log" >&2
  fail "failed with status $status: $*"
}

# The lock is a symbolic link that names its owner: taking it and saying who took it are one step, and a
# process that died with it can be told from one that is still at work.
take_lock() {
  me=$(process_identity $$)
  told=
  vain=0
  until ln -s "$me" "$lock" 2>/dev/null; do
    if owner=$(readlink "$lock") && is_alive "$owner"; then
      [ "$told" ] || say "waiting for another first use (process ${owner%%-*}) to finish…"
      told=yes
    else
      [ "$owner" ] && break_lock "$owner" && continue
      vain=$((vain + 1))
      [ "$vain" -lt 10 ] || fail "cannot take $lock: if no other hutch is at work, remove it and $lock.*"
    fi
    sleep 1 # nothing tells us of the other process's end
  done
  step='' started='' log=''
  trap remove_lock EXIT
  trap 'interrupted 129' HUP
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  log=$(mktemp) || fail "cannot write to ${TMPDIR:-/tmp}"
}

# Of many that find a dead owner's lock, only the one that makes that owner's marker may remove it, and only
# while it is still that owner's: the lock of a living process is never removed.
break_lock() {
  ln -s "$me" "$lock.$1" 2>/dev/null || return
  [ "$(readlink "$lock")" = "$1" ] && rm -f "$lock"
  rm -f "$lock.$1"
}

interrupted() {
  # The step is ended too: in the background it does not hear a Ctrl-C.
  [ -z "$step" ] || { kill "$step" && wait "$step"; } 2>/dev/null
  exit "$1"
}

release_lock() {
  remove_lock
  trap - EXIT HUP INT TERM
}

remove_lock() { rm -f "$lock" "$started" "$log"; }

# The number of a process and the time it started, since numbers come again.
process_identity() {
  read -r stat 2>/dev/null <"/proc/$1/stat" || return
  # shellcheck disable=SC2086 # split into fields; the name, which may hold blanks, is cut off
  set -- "$1" ${stat##*) }
  printf '%s-%s' "$1" "${21}"
}

is_alive() { [ "$1" ] && [ "$(process_identity "${1%%-*}")" = "$1" ]; }
