#!/bin/sh
# Takes each argument as a step; what they are is told by the contract of containers.
trap 'exit 0' TERM

count() { echo $#; }

for step in "$@"; do
  word=${step%% *}
  rest=${step#* }
  case $word in
    print) printf '%s\n' "$rest" ;;
    complain) printf '%s\n' "$rest" >&2 ;;
    flood)
      line=0
      while [ "$line" -lt "$rest" ]; do
        printf '%099d\n' "$line"
        line=$((line + 1))
      done
      ;;
    exit) exit "$rest" ;;
    stay) while :; do
      sleep 1000 &
      wait $!
    done ;;
    hog) exec tail /dev/zero ;;
    deaf) trap '' TERM ;;
    echo) cat ;;
    show) cat "$rest" ;;
    append)
      path=${rest%% *}
      { echo "${rest#* }" >>"$path"; } 2>/dev/null || echo refused
      ;;
    variable) eval "printf '%s\n' \"\$$rest\"" ;;
    user) echo "$(id -u) $(id -g) $(id -G)" ;;
    host) hostname ;;
    directory) pwd ;;
    terminal) if [ -t 1 ]; then echo yes; else echo no; fi ;;
    processes) count /proc/[0-9]* ;;
    listen)
      mkdir -p /tmp/www
      hostname >/tmp/www/index.html
      httpd -p "127.0.0.1:$rest" -h /tmp/www 2>/dev/null || echo refused
      ;;
    *)
      echo "no step: $step" >&2
      exit 64
      ;;
  esac
done
