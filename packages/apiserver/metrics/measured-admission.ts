import type { Clock, Distribution, Family, MetricsRegistry } from '@sheaf/base';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/plugin.ts';

/** Seconds. */
const buckets = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10];

/** The same plugins, with the time that each takes told to `metrics`. */
export function measuredPlugins(
  plugins: readonly AdmissionPlugin[],
  metrics: MetricsRegistry,
  clock: Clock,
): readonly AdmissionPlugin[] {
  const durations = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Time taken by each admission plugin.',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets,
  });
  return plugins.map((plugin) => measured(plugin, durations, clock));
}

type Pass<Further extends unknown[]> = (
  request: AdmissionRequest,
  ...further: Further
) => Promise<void> | void;

function measured(plugin: AdmissionPlugin, durations: Family<Distribution>, clock: Clock): AdmissionPlugin {
  const time = <Further extends unknown[]>(type: string, pass: Pass<Further>): Pass<Further> => {
    return (request, ...further) => {
      const begun = clock.monotonic();
      const done = (rejected: string): void =>
        durations
          .of(plugin.name, request.operation, rejected, type)
          .observe((clock.monotonic() - begun) / 1000);
      return timed(() => pass(request, ...further), done);
    };
  };
  const { allocate } = plugin;
  return {
    name: plugin.name,
    handles: (request) => plugin.handles(request),
    ...(plugin.mutate ? { mutate: time('admit', plugin.mutate.bind(plugin)) } : {}),
    ...(allocate ? { allocate: (...given) => allocate.apply(plugin, given) } : {}),
    ...(plugin.validate ? { validate: time('validate', plugin.validate.bind(plugin)) } : {}),
  };
}

/** Most passes are synchronous and stay so. */
function timed(pass: () => Promise<void> | void, done: (rejected: string) => void): Promise<void> | void {
  let pending: Promise<void> | void;
  try {
    pending = pass();
  } catch (error) {
    done('true');
    throw error;
  }
  return pending ? awaited(pending, done) : done('false');
}

async function awaited(pending: Promise<void>, done: (rejected: string) => void): Promise<void> {
  let rejected = 'true';
  try {
    await pending;
    rejected = 'false';
  } finally {
    done(rejected);
  }
}
