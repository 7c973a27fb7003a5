#!/bin/sh
# Proves that a machine with only Debian 12, Node 20 and npm is enough: makes such a machine as a directory, with a clean
# clone of this checkout's HEAD, and runs `npm start` (to its ready line, twice) and `npm test` in it. Needs root,
# debootstrap, git, and a Node 20 with npm on PATH outside of node_modules.
#
#   prove-fresh.sh [start|test|all] [DIRECTORY]     default: all, in a temporary directory that is removed
set -eu
checkout=$(cd "$(dirname "$0")/.." && pwd)
part=${1:-all}
machine=${2:-}

say() { echo "prove-fresh: $*"; }

if [ "${SHEAF_PROOF_MOUNTS:-}" != own ]; then
  # What is mounted below disappears with this process.
  SHEAF_PROOF_MOUNTS=own exec unshare --mount --propagation private sh "$0" "$@"
fi

# Only programs of the system: npm scripts put node_modules/.bin first.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ -z "$machine" ]; then
  machine=$(mktemp -d)
  remove=$machine
fi
trap 'cd /; umount "$machine/proc" "$machine/dev" 2>/dev/null || :; [ -z "${remove:-}" ] || rm -rf --one-file-system "$remove"' EXIT

if [ ! -e "$machine/etc/debian_version" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
  say 'making a minimal Debian 12'
  debootstrap --variant=minbase bookworm "$machine" "$mirror" >"$machine.log" 2>&1 || { tail "$machine.log"; exit 1; }
  rm -f "$machine.log"
  # Packages are fetched here as they are outside.
  cp /etc/resolv.conf /etc/hosts "$machine/etc/"
  say "adding Node $(node --version) and npm $(npm --version 2>/dev/null)"
  cp "$(readlink -f "$(command -v node)")" "$machine/usr/bin/node"
  npm_home=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mkdir -p "$machine/usr/lib/node_modules"
  cp -r "$npm_home" "$machine/usr/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$machine/usr/bin/npm"
fi

# The clone is always new.
rm -rf "$machine/root/sheaf" "$machine/var/lib/sheaf"
git clone -q --no-hardlinks "$checkout" "$machine/root/sheaf"
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"

certificates=$(npm config get cafile 2>/dev/null)
if [ -f "$certificates" ]; then
  cp "$certificates" "$machine/root/certificates.pem"
  trust='npm_config_cafile=/root/certificates.pem'
fi
registry=$(npm config get registry 2>/dev/null)

inside() {
  chroot "$machine" env -i HOME=/root PATH="$PATH" TERM=dumb LANG=C.UTF-8 ${trust:-} "npm_config_registry=$registry" \
    sh -c "cd /root/sheaf && $1"
}

# Starts Sheaf, waits for its ready line, asks it to stop, and says how long each took.
start_and_stop() {
  inside '
    date +%s%N >/tmp/began
    npm start >/tmp/start.log 2>&1 &
    program=$!
    while ! grep -q "Sheaf is ready" /tmp/start.log; do
      kill -0 $program 2>/dev/null || { cat /tmp/start.log; exit 1; }
      sleep 0.05
    done
    cat /tmp/start.log
    echo "ready after $((($(date +%s%N) - $(cat /tmp/began)) / 1000000)) ms"
    kill -TERM $program
    wait $program
    echo "stopped with exit code $?"'
}

if [ "$part" != test ]; then
  say 'first npm start'
  start_and_stop
  say 'second npm start'
  start_and_stop
fi
if [ "$part" != start ]; then
  say 'npm test'
  inside 'npm test'
fi
