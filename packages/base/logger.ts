/** Values a log line may carry. Secrets are passed as `Secret` and print as `***`. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured logging: a constant message plus keys. `info` once per changed outcome, `debug` for the rest,
 * `error` only when someone must act.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  with(fields: LogFields): Logger;
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with() {
    return silentLogger;
  },
};
