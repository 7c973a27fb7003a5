/** Says of a container that its input stays open when a connection to it ends. */
export const inputStays = 'sheaf.input-stays';

/**
 * conmon ends the input of a container with the first connection to it that ends, also of one that only looked on. It can be told
 * not to, but podman has no word for that: what podman starts instead tells it for containers that are marked so.
 */
export function conmonScript(conmon: string): string {
  return `#!/bin/sh
previous= bundle= kind=container
for word in "$@"; do
  case $previous in -b | --bundle) bundle=$word ;; esac
  case $word in -e | --exec) kind=process ;; esac
  previous=$word
done
if [ $kind = container ] && [ -n "$bundle" ] && grep -q '"${inputStays}":"true"' "$bundle/config.json" 2>/dev/null; then
  set -- --leave-stdin-open "$@"
fi
exec ${conmon} "$@"
`;
}
