#!/bin/sh
# Makes this checkout ready: Debian packages, then the npm packages of the lock. Idempotent, and silent when nothing
# is missing; then it also needs neither a network nor a writable checkout.
#
#   setup.sh runtime   what running Sheaf needs
#   setup.sh all       also what checks and tests need
set -eu
cd "$(dirname "$0")/.."

scope=${1:-all}
packages_table=${SHEAF_SETUP_PACKAGES:-scripts/setup/debian-packages.txt}
stamp=node_modules/.sheaf-setup

say() { echo "setup: $*" >&2; }

# True if one of the path patterns given exists.
any_exists() {
  for path in "$@"; do
    [ -e "$path" ] && return 0
  done
  return 1
}

# Prints package, purpose and loss of what this scope needs and this machine lacks.
missing_packages() {
  sed 's/[[:blank:]]*|[[:blank:]]*/|/g' "$packages_table" | while IFS='|' read -r name use patterns purpose lost; do
    case $name in '' | '#'*) continue ;; esac
    [ "$use" = runtime ] || [ "$scope" = all ] || continue
    # The patterns are meant to be expanded here.
    # shellcheck disable=SC2086
    any_exists $patterns || echo "$name|$purpose|$lost"
  done
}

# Runs a command as root, or fails.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt_install() {
  command -v apt-get >/dev/null && as_root true 2>/dev/null || return 1
  # The output is shown only if both attempts fail: the package lists may just be absent or old.
  log=$(mktemp)
  options='-y -qq --no-install-recommends -o DPkg::Lock::Timeout=120'
  # shellcheck disable=SC2086
  if as_root env DEBIAN_FRONTEND=noninteractive apt-get install $options "$@" >"$log" 2>&1 ||
    { as_root apt-get update -qq >>"$log" 2>&1 &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install $options "$@" >>"$log" 2>&1; }; then
    rm -f "$log"
    return 0
  fi
  cat "$log" >&2
  rm -f "$log"
  return 1
}

ensure_debian_packages() {
  missing=$(missing_packages)
  [ -z "$missing" ] && return 0
  names=$(echo "$missing" | cut -d'|' -f1 | paste -sd' ')
  say "installing Debian packages: $names"
  # shellcheck disable=SC2086
  if apt_install $names; then return 0; fi
  say "could not install them (this needs root, or sudo without a password). Please run:"
  say "    apt-get update && apt-get install -y $names"
  echo "$missing" | while IFS='|' read -r name purpose lost; do
    say "without $name: $lost ($purpose)"
  done
}

# What the stamp says once this scope is installed.
wanted_stamp() {
  echo "$(sha256sum <package-lock.json | cut -d' ' -f1) $(uname -m)"
}

# True if the stamp says that everything of this scope is installed.
is_installed() {
  [ -x node_modules/.bin/node ] || return 1
  read -r installed <"$stamp" 2>/dev/null || return 1
  case $scope in
    runtime) [ "$installed" = "$(wanted_stamp) runtime" ] || [ "$installed" = "$(wanted_stamp) all" ] ;;
    *) [ "$installed" = "$(wanted_stamp) all" ] ;;
  esac
}

# True where tools for development were installed, for whatever lock.
had_all() {
  [ -r "$stamp" ] && case $(cat "$stamp") in *' all') true ;; *) false ;; esac
}

npm_install() {
  common='--ignore-scripts --no-audit --no-fund --loglevel=error'
  # Adding to a matching installation leaves its files alone: a Sheaf may be running from them.
  if [ -r "$stamp" ] && [ "$(cat "$stamp")" = "$(wanted_stamp) runtime" ]; then
    npm install --no-save --include=dev $common
  elif [ "$scope" = runtime ]; then
    npm ci --omit=dev --include=optional $common
  else
    npm ci --include=dev --include=optional $common
  fi
}

ensure_npm_packages() {
  is_installed && return 0
  mkdir -p .cache
  # Two starts at once must not install over each other.
  if command -v flock >/dev/null; then
    exec 9>.cache/setup.lock
    flock 9
    is_installed && return 0
  fi
  # Whoever develops here keeps the tools, whatever is started first after a change.
  if had_all; then scope=all; fi
  case $scope in
    runtime) say 'installing the npm packages that running needs (about 240 MB) ...' ;;
    *) say 'installing the npm packages (about 500 MB) ...' ;;
  esac
  began=$(date +%s)
  if ! npm_install >&2; then
    say 'npm could not install the packages; its message is above. The npm registry must be reachable.'
    exit 1
  fi
  if [ ! -x node_modules/.bin/node ]; then
    say "there is no pinned Node for $(uname -s) on $(uname -m): Sheaf runs on Linux on x86_64 and aarch64."
    exit 1
  fi
  echo "$(wanted_stamp) $scope" >"$stamp"
  say "npm packages installed in $(($(date +%s) - began)) s"
  [ -e .cache/setup.lock ] && exec 9>&-
  return 0
}

ensure_debian_packages
ensure_npm_packages
