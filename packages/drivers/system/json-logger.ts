import type { Clock, LogFields, Logger } from '@sheaf/base';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface JsonLoggerOptions {
  /** Lines below this level are left out. */
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Takes one line, with its line feed. */
  readonly write: (line: string) => void;
}

/** One JSON object a line: time, level, message, then the fields. */
export function jsonLogger(options: JsonLoggerOptions, context: LogFields = {}): Logger {
  const log = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (ranks[level] < ranks[options.level]) return;
    const time = new Date(options.clock.now()).toISOString();
    options.write(`${JSON.stringify({ time, level, message, ...context, ...fields }, showErrors)}\n`);
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    with: (fields) => jsonLogger(options, { ...context, ...fields }),
  };
}

/** Errors have no enumerable fields; their message, stack and cause are what counts. */
function showErrors(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  return {
    name: value.name,
    message: value.message,
    stack: value.stack,
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  };
}
