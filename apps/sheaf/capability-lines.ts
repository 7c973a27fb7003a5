import type { MachineHost } from './machine-host.ts';

const always = new Set(['machines', 'volumes', 'containers']);

/** What the start says of the host once it has been looked at; nothing if it stops before that, since nothing has been found out then. */
export async function capabilityLines(
  host: Pick<MachineHost, 'capabilities'>,
  stopping: AbortSignal,
): Promise<string> {
  const all = await host.capabilities();
  if (stopping.aborted) return '';
  const canRun = all.some(({ name, isAvailable }) => name === 'machines' && isAvailable);
  const told = all.filter(
    ({ name, isAvailable }) => always.has(name) || (name === 'outside' && canRun && !isAvailable),
  );
  const lines = told.map(({ name, isAvailable, reason, wayOut = '' }) =>
    isAvailable
      ? `  ${name}: ${reason}\n`
      : `  ${name}: not available: ${reason}; to change that: ${wayOut}\n`,
  );
  return lines.join('');
}
