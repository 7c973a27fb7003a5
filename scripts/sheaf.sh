#!/bin/sh
# Becomes the Sheaf of this checkout, so that signals reach it; with the settings of memory that it is measured with
# (docs/performance.md).
#
#   [SHEAF_NODE=NODE] sheaf.sh COMMAND [ARGUMENT...]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

# Node keeps stripped and compiled modules here; a checkout that cannot be written runs without.
if [ -z "${NODE_COMPILE_CACHE:-}" ] && mkdir -p "$root/.cache/compile" 2>/dev/null; then
  export NODE_COMPILE_CACHE="$root/.cache/compile"
fi

# Large blocks are given back to the system when they are freed: the limits would otherwise grow with the largest list.
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"

# Node would let the young generation grow to 64 MiB, and the old one to a multiple of what is in use, but collects often
# while it starts; `gc` is for the idle process. docs/performance.md tells what each setting gives and costs.
exec "${SHEAF_NODE:-node}" --max-semi-space-size=8 --initial-old-space-size=64 --heap-growing-percent=100 --expose-gc \
  "$root/apps/sheaf/main.ts" "$@"
