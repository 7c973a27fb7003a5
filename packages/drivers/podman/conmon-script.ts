/** Says of a container that its input stays open when a connection to it ends. */
export const inputStays = 'sheaf.input-stays';

export interface ConmonParts {
  /** The program itself. */
  readonly conmon: string;
  /** Tells where the engine keeps what ends with the host. */
  readonly storageConf: string;
}

/**
 * What podman starts instead of conmon.
 *
 * conmon ends the input of a container with the first connection to it that ends, also of one that only looked on. It can be told
 * not to, but podman has no word for that: conmon is told it here for containers that are marked so.
 *
 * After the end of a container conmon runs podman, with its directories as options. Versions before 5.1 refuse one of them beyond
 * 50 characters, which they take without objection from their configuration: there podman finds it.
 */
export function conmonScript({ conmon, storageConf }: ConmonParts): string {
  return `#!/bin/sh
previous= bundle= kind=container option=
for word in "$@"; do
  shift
  case $previous in -b | --bundle) bundle=$word ;; esac
  case $word in -e | --exec) kind=process ;; esac
  case $previous$option in
    --exit-command-arg) if [ "$word" = --runroot ]; then option=of-podman; else set -- "$@" "$previous" "$word"; fi ;;
    --exit-command-argof-podman) option= ;;
    *) if [ "$word" != --exit-command-arg ]; then set -- "$@" "$word"; fi ;;
  esac
  previous=$word
done
if [ $kind = container ] && [ -n "$bundle" ] && grep -q '"${inputStays}":"true"' "$bundle/config.json" 2>/dev/null; then
  set -- --leave-stdin-open "$@"
fi
CONTAINERS_STORAGE_CONF=${quoted(storageConf)}
export CONTAINERS_STORAGE_CONF
exec ${quoted(conmon)} "$@"
`;
}

/** One word for the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
