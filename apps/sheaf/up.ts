import { AuditPolicyError } from '@sheaf/apiserver/audit/index';
import { toError } from '@sheaf/base';
import { systemClock } from '@sheaf/drivers/system';
import { StoreFault } from '@sheaf/store';
import { capabilityLines } from './capability-lines.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { collectWhenIdle, thisProcess } from './idle-collection.ts';
import { tell } from './own-output.ts';
import { readUpOptions, type UpOptions, UsageError, upUsage } from './up-options.ts';

const repeatedSignalMs = 1000;

/** `sheaf up`: serves until SIGINT or SIGTERM. */
export async function up(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'number') return options;
  let controlPlane: ControlPlane;
  try {
    controlPlane = await startControlPlane(options);
  } catch (error) {
    process.stderr.write(`${startFailure(error)}\n`);
    return 1;
  }
  tell(process.stdout, `Sheaf is ready: ${controlPlane.url}\n`);
  tell(
    process.stdout,
    `  kubeconfig: ${controlPlane.kubeconfigPath}\n  try:        kubectl --kubeconfig ${controlPlane.kubeconfigPath} get namespaces\n`,
  );
  const stopping = new AbortController();
  void tellCapabilities(controlPlane.host, stopping.signal);
  const memory = thisProcess();
  const collection = memory && collectWhenIdle(systemClock, memory);
  await stopSignal();
  stopping.abort();
  collection?.dispose();
  const running = await controlPlane.host.countRunning();
  await controlPlane.stop();
  const words = farewell(running);
  if (words !== undefined) tell(process.stdout, `${words}\n`);
  return 0;
}

/** Not waited for: the first look at the host may take a second. */
async function tellCapabilities(host: ControlPlane['host'], stopping: AbortSignal): Promise<void> {
  tell(process.stdout, await capabilityLines(host, stopping));
}

/** `undefined`: nothing runs on. */
export function farewell({ machines, pods }: { machines: number; pods: number }): string | undefined {
  const parts = [counted(machines, 'virtual machine'), counted(pods, 'pod')].filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  const verb = machines + pods === 1 ? 'runs on' : 'run on';
  return `Sheaf has stopped; ${parts.join(' and ')} ${verb}, and the next start finds them. To stop all of them in order: sheaf shutdown, while Sheaf runs.`;
}

function counted(count: number, noun: string): string {
  if (count === 0) return '';
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function readOptions(args: readonly string[]): UpOptions | number {
  try {
    const options = readUpOptions(args, process.env);
    if (options !== 'help') return options;
    process.stdout.write(upUsage);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`sheaf up: ${error.message}\n\n${upUsage}`);
    return 2;
  }
}

function startFailure(thrown: unknown): string {
  const error = toError(thrown);
  if (error instanceof StoreFault) return `sheaf up: ${error.message}\n  ${error.wayOut}`;
  if (error instanceof AuditPolicyError) {
    return `sheaf up: ${error.message}\n  Mend the file, or start without --audit-policy. Nothing has been started or written.`;
  }
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `sheaf up: ${error.message}\n  Another program serves there. Stop it, or choose another place with --listen.`;
  }
  return `sheaf up: cannot start\n${error.stack ?? error.message}`;
}

/** A signal sent again a second later or more ends the process at once; npm and the terminal both send the first one. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > repeatedSignalMs) process.exit(130);
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  });
}
