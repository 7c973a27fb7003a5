#!/bin/sh
# Runs a command of this checkout on the pinned Node, after setting up what it needs; becomes that command, so that
# signals reach it.
#
#   run.sh runtime|all COMMAND [ARGUMENT...]
set -eu
cd "$(dirname "$0")/.."

scope=$1
shift
sh scripts/setup.sh "$scope"

export PATH="$PWD/node_modules/.bin:$PATH"
# Node keeps stripped and compiled modules here; a checkout that cannot be written runs without.
if [ -z "${NODE_COMPILE_CACHE:-}" ] && mkdir -p .cache/compile 2>/dev/null; then
  export NODE_COMPILE_CACHE="$PWD/.cache/compile"
fi
exec "$@"
