/** The name of the system from `/etc/os-release`; `undefined` if it has none. */
export function osImageOf(text: string): string | undefined {
  const value = /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.trim() ?? '';
  return value.replace(/^(["'])(.*)\1$/, '$2') || undefined;
}

/** How many threads there are, from `/proc/loadavg`. */
export function loadOf(text: string): number | undefined {
  const count = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(`${text} `)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** Seconds since the machine was started, from `/proc/uptime`. */
export function uptimeOf(text: string): number | undefined {
  const seconds = Number.parseFloat(text);
  return Number.isFinite(seconds) ? seconds : undefined;
}
