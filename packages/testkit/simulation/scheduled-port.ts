import type { Scheduler } from './scheduler.ts';

export interface ScheduledPortOptions {
  readonly scheduler: Scheduler;
  /** Begins the lanes of its calls. */
  readonly name: string;
  /** Its methods that are answered at once: they return no promise. */
  readonly immediate: readonly string[];
  /** Its methods whose calls begin at once, without being chosen. */
  readonly isAtOnce?: (method: string) => boolean;
  /** The life of its caller is over: calls that have not begun never do, and nothing comes back. */
  readonly isOver: () => boolean;
  /** Around each call, as its first and last step. */
  readonly onCall?: (method: string) => void;
  readonly onAnswer?: (method: string, args: readonly unknown[]) => void;
}

/** A port whose calls each begin when they are chosen. A call runs until its driver waits for something itself. */
export function scheduledPort<T extends object>(port: T, options: ScheduledPortOptions): T {
  const immediate = new Set(options.immediate);
  let calls = 0;
  return new Proxy(port, {
    get(target, property): unknown {
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function' || typeof property !== 'string') return method;
      if (immediate.has(property))
        return (...args: unknown[]) => Reflect.apply(method, target, args) as unknown;
      return (...args: unknown[]) => {
        const lane = `${options.name}#${++calls}`;
        const run = (): Promise<unknown> => Promise.resolve(Reflect.apply(method, target, args));
        return call(options, { lane, method: property, args, run });
      };
    },
  });
}

interface Call {
  readonly lane: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly run: () => Promise<unknown>;
}

function call(options: ScheduledPortOptions, { lane, method, args, run }: Call): Promise<unknown> {
  const { scheduler, isAtOnce, isOver, onCall, onAnswer } = options;
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      if (isOver()) return;
      onCall?.(method);
      run().then(
        (value) => {
          onAnswer?.(method, args);
          if (!isOver()) resolve(value);
        },
        (error: Error) => !isOver() && reject(error),
      );
    };
    if (isAtOnce?.(method)) begin();
    else scheduler.add(lane, method, begin);
  });
}
